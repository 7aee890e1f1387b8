import type { Interactive } from '../port.ts'

/**
 * Buttons and lists as plain text with numbered choices, because the engines' own forms reach phones unreliably.
 * Numbers run through all sections.
 */
export function renderInteractive(interactive: Interactive): string {
  if (interactive.type === 'buttons') {
    const choices = interactive.buttons.map((button, index) => `${index + 1}. ${button.title}`)
    return `${interactive.body}\n\n${choices.join('\n')}`
  }
  let number = 0
  const sections = interactive.sections.map(section => {
    const rows = section.rows.map(row => {
      number += 1
      return row.description ? `${number}. ${row.title} - ${row.description}` : `${number}. ${row.title}`
    })
    return (section.title ? [`*${section.title}*`, ...rows] : rows).join('\n')
  })
  return `${interactive.body}\n\n${sections.join('\n\n')}`
}
