/** Answers that every request asks for anew, kept until a page says that they may have changed. */
import { LRUCache } from 'lru-cache'

export type Recall<Answer extends object> = {
  /** What was answered before, or what `ask` answers now. That there is nothing is not kept: strangers could fill it. */
  of(question: string, ask: () => Answer | null): Answer | null
  /** Changes are rare beside questions: one of them forgets everything. */
  forget(): void
}

const ANSWERS_MAX = 10_000

export function createRecall<Answer extends object>(): Recall<Answer> {
  const answers = new LRUCache<string, Answer>({ max: ANSWERS_MAX })
  return {
    of(question, ask) {
      const known = answers.get(question)
      if (known !== undefined) return known
      const answer = ask()
      if (answer !== null) answers.set(question, answer)
      return answer
    },
    forget: () => answers.clear()
  }
}
