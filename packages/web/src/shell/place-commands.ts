import { createContext, useContext } from 'react'
import type { PaletteCommand } from './command-palette.tsx'

/** Commands of the place where one is: a workspace gives its panels, files and chat. */
export const PlaceCommandsContext = createContext<readonly PaletteCommand[]>([])

export function usePlaceCommands(): readonly PaletteCommand[] {
  return useContext(PlaceCommandsContext)
}
