import { refuse } from './errors.ts'
import { type JsonObject, listOf, objectOf, scalarOf, textOf } from './json.ts'
import { mediaShape } from './media-shape.ts'
import type { State, Template } from './state.ts'
import { bodyTextOf, componentOf, fill, variablesOf } from './template-text.ts'
import type { Answer } from './wire.ts'

const MAX_BODY = 1024
const MAX_HEADER = 60
const FORBIDDEN_VALUE = /[\n\t]| {5}/
const TEXT_LIKE = ['text', 'currency', 'date_time']

const sentComponents = (call: JsonObject) => listOf(call.components).map(objectOf)
const kindOf = (component: JsonObject) => textOf(component.type)?.toLowerCase()

function parameterText(parameter: JsonObject): string {
  if (parameter.type === 'text') return textOf(parameter.text) ?? ''
  return textOf(objectOf(parameter[textOf(parameter.type) ?? '']).fallback_value) ?? ''
}

/** Checks the parameters of a text with variables and the text that comes out of it. */
function filled(
  where: string,
  text: string,
  sent: JsonObject | undefined,
  named: boolean,
  limit: number
): Answer | null {
  const variables = variablesOf(text)
  const parameters = listOf(sent?.parameters).map(objectOf)
  if (parameters.length !== variables.length) {
    return refuse(
      132000,
      `${where}: number of localizable_params (${parameters.length}) does not match the expected number of params (${variables.length})`
    )
  }
  const values = new Map<string, string>()
  for (const [index, parameter] of parameters.entries()) {
    if (!TEXT_LIKE.includes(textOf(parameter.type) ?? '')) {
      return refuse(132012, `${where}: parameter at index ${index} must be text`)
    }
    const name = named ? textOf(parameter.parameter_name) : variables[index]
    if (name === undefined || !variables.includes(name)) {
      return refuse(132012, `${where}: parameter name is missing or unknown at index ${index}`)
    }
    const value = parameterText(parameter)
    if (value === '') return refuse(131008, `${where}: parameter at index ${index} is empty`)
    if (FORBIDDEN_VALUE.test(value)) {
      return refuse(132012, `${where}: a value cannot have new lines, tabs or more than 4 consecutive spaces`)
    }
    values.set(name, value)
  }
  return fill(text, values).length > limit ? refuse(132005, `${where}: the text is too long after filling in`) : null
}

function headerFits(template: Template, call: JsonObject): Answer | null {
  const header = componentOf(template.components, 'HEADER')
  const sent = sentComponents(call).find(component => kindOf(component) === 'header')
  const format = textOf(header?.format)?.toUpperCase() ?? 'TEXT'
  const parameters = listOf(sent?.parameters).map(objectOf)
  if (!header || format === 'TEXT') {
    if (parameters.some(parameter => !TEXT_LIKE.includes(textOf(parameter.type) ?? ''))) {
      return refuse(132012, 'header: Format mismatch, expected TEXT')
    }
    return filled('header', textOf(header?.text) ?? '', sent, template.parameterFormat === 'NAMED', MAX_HEADER)
  }
  const expected = format === 'GIF' ? 'video' : format.toLowerCase()
  const type = textOf(parameters[0]?.type)
  if (parameters.length !== 1 || type !== expected) {
    return refuse(132012, `header: Format mismatch, expected ${format}, received ${type?.toUpperCase() ?? 'UNKNOWN'}`)
  }
  return expected === 'location' ? null : mediaShape(expected, objectOf(parameters[0]?.[expected]))
}

/** What a button needs at send time; undefined when it is static. */
function needOf(button: JsonObject): { subType: string; parameter: string } | undefined {
  const type = textOf(button.type)?.toUpperCase()
  if (type === 'OTP') return { subType: 'url', parameter: 'text' }
  if (type === 'COPY_CODE') return { subType: 'copy_code', parameter: 'coupon_code' }
  if (type === 'URL' && variablesOf(textOf(button.url) ?? '').length > 0) return { subType: 'url', parameter: 'text' }
  return undefined
}

function buttonsFit(template: Template, call: JsonObject): Answer | null {
  const buttons = listOf(componentOf(template.components, 'BUTTONS')?.buttons).map(objectOf)
  const sent = sentComponents(call).filter(component => kindOf(component) === 'button')
  for (const component of sent) {
    const button = buttons[Number(scalarOf(component.index))]
    const subType = textOf(component.sub_type)?.toLowerCase()
    const fits = subType === needOf(button ?? {})?.subType || subType === textOf(button?.type)?.toLowerCase()
    if (!button || !fits) return refuse(132018, `button: no ${subType} button at index ${scalarOf(component.index)}`)
  }
  for (const [index, button] of buttons.entries()) {
    const need = needOf(button)
    if (!need) continue
    const component = sent.find(one => Number(scalarOf(one.index)) === index)
    const parameter = objectOf(listOf(component?.parameters)[0])
    if (!component) return refuse(131008, `Button at index ${index} of type ${need.subType} requires a parameter`)
    if (parameter.type !== need.parameter || !textOf(parameter[need.parameter])) {
      return refuse(132012, `Button at index ${index} takes a parameter of type ${need.parameter}`)
    }
  }
  return null
}

const templateFor = (state: State, wabaId: string, name: string, language: string): Template | undefined => {
  for (const template of state.templates.values()) {
    if (template.wabaId === wabaId && template.name === name && template.language === language) return template
  }
  return undefined
}

/** The approved template that a send names, or the refusal; also checks every parameter against it. */
export function templateToSend(state: State, wabaId: string, call: JsonObject): Template | Answer {
  const name = textOf(call.name) ?? ''
  const language = textOf(objectOf(call.language).code) ?? ''
  const template = templateFor(state, wabaId, name, language)
  if (template?.status === 'PAUSED') return refuse(132015, `Template ${name} is paused due to low quality`)
  if (template?.status === 'DISABLED') return refuse(132016, `Template ${name} is disabled`)
  if (template?.status !== 'APPROVED') return refuse(132001, `template name (${name}) does not exist in ${language}`)
  const body = sentComponents(call).find(component => kindOf(component) === 'body')
  return (
    headerFits(template, call) ??
    filled('body', bodyTextOf(template), body, template.parameterFormat === 'NAMED', MAX_BODY) ??
    buttonsFit(template, call) ??
    template
  )
}
