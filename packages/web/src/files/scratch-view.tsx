import { useIde } from '../shell/use-ide.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { CodeView } from './code-view.tsx'
import { Crumbs } from './crumbs.tsx'
import type { ScratchTab } from './tabs.ts'

/** Code out of an answer, in the editor. It belongs to no file and is not stored. */
export function ScratchView({ tab }: { tab: ScratchTab }) {
  const { location, go } = useIde()
  return (
    <>
      <Crumbs path={tab.title}>
        <span>from an answer, not a file of the workspace</span>
        <CopyButton label="Copy the code" text={tab.text} />
      </Crumbs>
      <CodeView
        text={tab.text}
        fileName={tab.title}
        lines={location.lines}
        onLines={(lines) => go({ lines }, { replace: true })}
      />
    </>
  )
}
