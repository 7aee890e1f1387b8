#!/usr/bin/env node
import { Command } from 'commander'
import { version } from '../service/version.ts'
import { serveCommand } from './serve.ts'

const program = new Command('ledgerline')
  .description('Messaging service in which everything that happens is an event in an append-only log')
  .version(version)
  .addCommand(serveCommand())

await program.parseAsync()
