/** The leanest POST that undici offers: what the load is made with, and the floor of a dispatch. */
import type { Dispatcher } from 'undici'

export type Posted = { readonly status: number; readonly body: string }

export function post(dispatcher: Dispatcher, path: string, headers: string[], body: string): Promise<Posted> {
  return new Promise((resolve, reject) => {
    let status = 0
    let text = ''
    dispatcher.dispatch(
      { path, method: 'POST', headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code
        },
        onResponseData(_controller, chunk) {
          text += chunk.toString('latin1')
        },
        onResponseEnd: () => resolve({ status, body: text }),
        onResponseError: (_controller, error) => reject(error)
      }
    )
  })
}
