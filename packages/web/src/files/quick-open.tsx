import { Command } from 'cmdk'
import { useDeferredValue, useMemo, useState } from 'react'
import { fuzzyFind } from '../lib/fuzzy.ts'
import { parseLineRange } from '../lib/line-range.ts'
import { useIde } from '../shell/use-ide.ts'
import { Dialog } from '../ui/dialog.tsx'
import palette from '../ui/palette.module.css'
import { FileIcon } from './file-icon.tsx'
import { useWorkspaceFiles } from './file-tree-context.tsx'

/** Rows shown: beyond them a person types another letter. */
const mostRows = 50

/** Opens a file by a part of its name; `name:12` goes to the line. */
export function QuickOpen({ onClose }: { onClose: () => void }) {
  const { tree, isPending } = useWorkspaceFiles()
  const { openFile } = useIde()
  const [text, setText] = useState('')
  const deferred = useDeferredValue(text)
  const [, query = '', line] = /^(.*?)(?::(\d+(?:-\d+)?))?$/.exec(deferred) ?? []
  const matches = useMemo(
    () => fuzzyFind(tree.files, query, { textOf: (path) => path, limit: mostRows }),
    [tree.files, query],
  )
  return (
    <Dialog title="Open a file" size="wide" bare onClose={onClose}>
      <Command label="Open a file" shouldFilter={false} loop className={palette.palette}>
        <Command.Input value={text} onValueChange={setText} placeholder="File name, or part of its path" />
        <Command.List>
          <Command.Empty>{isPending ? 'Reading the files…' : 'No file matches.'}</Command.Empty>
          {matches.map(({ item: path, positions }) => (
            <Command.Item
              key={path}
              value={path}
              onSelect={() => {
                onClose()
                openFile(path, line === undefined ? null : parseLineRange(`L${line}`))
              }}
            >
              <FileIcon name={path} />
              <MatchedPath path={path} positions={positions} />
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </Dialog>
  )
}

function MatchedPath({ path, positions }: { path: string; positions: number[] }) {
  const nameStart = path.lastIndexOf('/') + 1
  const matched = new Set(positions)
  const part = (from: number, to: number) =>
    Array.from({ length: to - from }, (_none, offset) => from + offset).map((at) =>
      matched.has(at) ? <b key={at}>{path[at]}</b> : path[at],
    )
  return (
    <>
      <span>{part(nameStart, path.length)}</span>
      <small>{part(0, Math.max(0, nameStart - 1))}</small>
    </>
  )
}
