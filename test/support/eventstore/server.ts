/**
 * The double as a process of its own: `node dist/test/support/eventstore/server.js --port N`. It prints
 * `listening <port>`, and takes one command a line on its standard input: `drop`, `refuse`, `accept`, `delay <ms>`,
 * `deny`, `allow`, `lose <appends>`, `hang <appends>`, `close`. Each is answered with `done <command>`.
 */
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Double } from './double.ts'
import { startDouble } from './double.ts'

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
const double = await startDouble({ port: Number(values.port) })
const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function obey({ faults, drop, refuse, accept, close }: Double, command: string, count: number): Promise<void> {
  if (command === 'drop') await drop()
  else if (command === 'refuse') await refuse()
  else if (command === 'accept') await accept()
  else if (command === 'delay') faults.delayMs = count
  else if (command === 'deny' || command === 'allow') faults.isDenying = command === 'deny'
  else if (command === 'lose' || command === 'hang') faults.next('append', { kind: command }, count)
  else if (command === 'close') await close()
  else return say(`unknown ${command}`)
  say(`done ${command}`)
}

const lines = createInterface({ input: process.stdin })
lines.on('line', line => {
  const [command = '', count = '0'] = line.trim().split(' ')
  void obey(double, command, Number(count)).then(() => command === 'close' && lines.close())
})
process.on('SIGTERM', () => void double.close().then(() => process.exit(0)))
say(`listening ${double.port}`)
