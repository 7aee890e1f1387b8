/** `docs/settings.md`, rendered from the settings themselves. */
import type { SettingDescription } from '../config/settings.ts'

const INTRODUCTION = `# Settings

Generated from the settings' own schema (\`src/config/environment.ts\`) by \`npm run docs\`.

Settings come from the environment and from a \`.env\` file in the working directory; the environment wins, by an empty
value too. An empty value counts as unset. All of them are checked at the start: each wrong one is named in a line of its
own, with what it held (secrets masked) and what is allowed, and the command ends with exit code 2. Unknown variables are
ignored. A variable that has no effect yet in this version is listed under "Not yet" in the [changelog](../CHANGELOG.md).

| Variable | Default | Allowed | Meaning |
|---|---|---|---|
`

export function settingsDocument(settings: readonly SettingDescription[]): string {
  const rows = settings.map(({ name, default: preset, allowed, meaning, isSecret }) =>
    [`\`${name}\`${isSecret ? ' (secret)' : ''}`, preset, allowed, meaning].map(cell).join(' | ')
  )
  return `${INTRODUCTION}${rows.map(row => `| ${row} |\n`).join('')}`
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
