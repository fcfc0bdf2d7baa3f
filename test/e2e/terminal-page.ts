import type { Locator, Page, WebSocketRoute } from 'playwright-core'
import { expect } from 'vitest'

function terminal(page: Page): Locator {
  return page.getByTestId('terminal')
}

/** The rows in sight, as text. */
export async function screenOf(page: Page): Promise<string> {
  const text = await page.locator('.xterm-rows').innerText()
  return text
    .replaceAll('\u00a0', ' ')
    .replaceAll(/ +$/gm, (spaces) => spaces.slice(0, 1))
    .trimEnd()
    .concat(' ')
}

export async function expectScreen(page: Page, text: string): Promise<void> {
  await expect.poll(() => screenOf(page), { timeout: 30_000 }).toContain(text)
}

/** Clicks into the terminal, so that what is typed is the program's. */
export async function focusTerminal(page: Page): Promise<void> {
  await expect
    .poll(async () => {
      await terminal(page).click()
      return page.evaluate('document.activeElement.className')
    })
    .toContain('xterm-helper-textarea')
}

export async function typeLine(page: Page, line: string): Promise<void> {
  await page.keyboard.type(line)
  await page.keyboard.press('Enter')
}

/** What a screen reader calls the tabs. */
export function tabNames(page: Page): Promise<string[]> {
  return page.evaluate(
    `Array.from(document.querySelectorAll('[aria-label=Terminals] [role=tab]'), (tab) => tab.ariaLabel)`,
  )
}

/** The accessible name of what has the focus. */
export function focused(page: Page): Promise<unknown> {
  return page.evaluate('document.activeElement.getAttribute("aria-label")')
}

/** Clicks on a word of the screen. */
export async function clickWord(page: Page, word: string, { clickCount = 1 } = {}): Promise<void> {
  const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
    const word = ${JSON.stringify(word)}
    const texts = document.createTreeWalker(document.querySelector('.xterm-rows'), NodeFilter.SHOW_TEXT)
    while (texts.nextNode() && !texts.currentNode.data.includes(word));
    const { currentNode: text } = texts
    const range = document.createRange()
    range.setStart(text, text.data.indexOf(word))
    range.setEnd(text, text.data.indexOf(word) + word.length)
    const box = range.getBoundingClientRect()
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  })()`)
  // What is under the pointer is looked for when it moves, as with a person's hand.
  await page.mouse.move(x - 4, y)
  await page.mouse.move(x, y, { steps: 3 })
  await page.mouse.click(x, y, { clickCount })
}

/** The connections of terminals that the page makes from now on, to be cut and mended. */
export async function interceptSockets(page: Page): Promise<{ cut(): void; mend(): void }> {
  const open = new Set<WebSocketRoute>()
  let down = false
  await page.routeWebSocket(/\/api\/terminal\/ws/, (socket) => {
    if (down) void socket.close({ code: 1001 })
    else for (const side of [socket, socket.connectToServer()]) open.add(side)
  })
  return {
    cut() {
      down = true
      for (const socket of open) void socket.close({ code: 1001 })
      open.clear()
    },
    mend() {
      down = false
    },
  }
}
