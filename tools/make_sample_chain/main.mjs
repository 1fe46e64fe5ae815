// Makes the sample chain that `make demo` and the tests load.
//
//   npm ci && npm start
//
// Starts anvil (a real EVM client) on a chain of its own, drives the contracts
// of contracts.sol with a fixed sequence of pseudo-random transactions, reads
// every block back over JSON-RPC and writes one line per block:
//
//   test/data/sample-evm.ndjson.gz             all blocks, traces of trace_block
//   test/data/sample-evm-calltracer.ndjson.gz  the first CALLTRACER_BLOCKS of
//                                              the same chain, traces of
//                                              debug_traceTransaction
//
// Two runs write the same bytes: keys, order, times and gas are fixed, and the
// London fork is used because later ones draw prevRandao at random.
import { spawn } from 'node:child_process'
import { readFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { createRequire } from 'node:module'

const BLOCKS = 420
const CALLTRACER_BLOCKS = 120
const GENESIS_TIME = 1700000000
const PORT = 18545
const here = dirname(fileURLToPath(import.meta.url))
const out = join(here, '..', '..', 'test', 'data')
const require = createRequire(import.meta.url)

// ---- the client ----

// The package's own launcher starts the binary as its child; start the binary
// itself, so that ending it ends it.
const binary = require.resolve(`@foundry-rs/anvil-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}/bin/anvil`)
const anvil = spawn(binary, [
  '--port', String(PORT), '--silent', '--no-mining', '--order', 'fifo',
  '--hardfork', 'london', '--timestamp', String(GENESIS_TIME), '--accounts', '10',
  '--chain-id', '31337', '--disable-default-create2-deployer'
], { stdio: ['ignore', 'ignore', 'inherit'] })

let calls = 0
async function rpc(method, ...params) {
  const answer = await fetch(`http://127.0.0.1:${PORT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++calls, method, params })
  })
  const { result, error } = await answer.json()
  if (error)
    throw new Error(`${method}(${JSON.stringify(params).slice(0, 300)}): ${error.message}`)
  return result
}

async function clientReady() {
  for (let i = 0; i < 100; i++) {
    try {
      return await rpc('eth_chainId')
    } catch (e) {
      if (anvil.exitCode !== null)
        throw new Error(`anvil ended with exit code ${anvil.exitCode}`)
      await new Promise(done => setTimeout(done, 100))
    }
  }
  throw new Error('anvil does not answer')
}

// ---- the contracts ----

function compile() {
  const solc = require('solc')
  const answer = JSON.parse(solc.compile(JSON.stringify({
    language: 'Solidity',
    sources: { 'contracts.sol': { content: readFileSync(join(here, 'contracts.sol'), 'utf8') } },
    settings: {
      evmVersion: 'london',
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } }
    }
  })))
  const errors = (answer.errors ?? []).filter(e => e.severity === 'error')
  if (errors.length)
    throw new Error(errors.map(e => e.formattedMessage).join('\n'))
  return answer.contracts['contracts.sol']
}

const contracts = compile()

// ---- encoding of arguments: as much of the ABI as is needed ----

const word = v => BigInt.asUintN(256, BigInt(v)).toString(16).padStart(64, '0')
const bytes = hex => word(hex.length / 2) + hex.padEnd(Math.ceil(hex.length / 64) * 64, '0')
const utf8 = s => Buffer.from(s, 'utf8').toString('hex')

// values: bigint, number or 0x address is a word, { bytes } is dynamic bytes,
// an array is an array of words
function encode(values) {
  let head = ''
  let tail = ''
  for (const v of values) {
    if (Array.isArray(v) || typeof v === 'object') {
      head += word(values.length * 32 + tail.length / 2)
      tail += Array.isArray(v) ? word(v.length) + v.map(word).join('') : bytes(v.bytes)
    } else
      head += word(v)
  }
  return head + tail
}

function call(contract, method, ...values) {
  const ids = contracts[contract].evm.methodIdentifiers
  const signature = Object.keys(ids).find(s => s.startsWith(method + '('))
  return '0x' + ids[signature] + encode(values)
}

const creation = (contract, ...values) => '0x' + contracts[contract].evm.bytecode.object + encode(values)

// ---- chance: xorshift32, fixed seed ----

let state = 0x9e3779b9
function random(n) {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % n
}
const pick = list => list[random(list.length)]
const hex = n => '0x' + BigInt(n).toString(16)

// ---- the chain ----

let accounts
const nonces = new Map()
let time = GENESIS_TIME
let height = 0

// Sends without waiting: what is sent before the next mine() is its block, in
// this order.
async function send(from, to, data, { value = 0, gas = 1_500_000, type = random(3) } = {}) {
  const nonce = nonces.get(from) ?? 0
  const tx = { from, nonce: hex(nonce), gas: hex(gas), value: hex(value), input: data }
  nonces.set(from, nonce + 1)
  if (to)
    tx.to = to
  if (type === 2) {
    tx.maxFeePerGas = hex(20_000_000_000 + random(1000) * 1_000_003)
    tx.maxPriorityFeePerGas = hex(1_000_000_000 + random(100) * 7_777_777)
  } else
    tx.gasPrice = hex(3_000_000_000 + random(1000) * 1_234_567)
  if (type !== 0)
    tx.accessList = random(3) === 0 && to
      ? [{ address: to, storageKeys: ['0x' + word(random(4)), '0x' + word(random(4))] }]
      : []
  if (type === 0)
    tx.type = '0x0'
  else
    tx.type = hex(type)
  return rpc('eth_sendTransaction', tx)
}

async function mine() {
  time += 1 + random(15)
  await rpc('evm_mine', { timestamp: time })
  height++
}

async function deployed(hash) {
  const receipt = await rpc('eth_getTransactionReceipt', hash)
  if (receipt.status !== '0x1')
    throw new Error(`deployment ${hash} failed`)
  return receipt.contractAddress
}

async function deploy(contract, ...values) {
  const hash = await send(accounts[0], null, creation(contract, ...values), { gas: 5_000_000 })
  await mine()
  return deployed(hash)
}

async function drive() {
  accounts = await rpc('eth_accounts')
  await mine()
  await mine()

  // ---- deployments, a block each ----
  const supply = 10n ** 24n
  const tokens = []
  for (const symbol of ['USDS', 'WETS', 'DAIS']) {
    // the arguments: a dynamic string, an address, a number
    tokens.push(await deploy('Token', { bytes: utf8(symbol) }, accounts[0], supply))
  }
  const collectible = await deploy('Collectible')
  const pools = [await deploy('Pool', tokens[0], tokens[1]), await deploy('Pool', tokens[1], tokens[2])]
  const router = await deploy('Router')
  const logic = await deploy('VaultLogic')
  const vault = await deploy('Vault', logic)
  const factory = await deploy('Factory')
  const oddities = await deploy('Oddities')

  // ---- everybody gets tokens, and lets pools take some ----
  for (const token of tokens) {
    for (const who of [...accounts.slice(1), ...pools])
      await send(accounts[0], token, call('Token', 'transfer', who, 10n ** 22n))
    await mine()
  }
  for (const pool of pools) {
    for (const who of accounts.slice(0, 8))
      for (const token of tokens)
        if (random(4) > 0)
          await send(who, token, call('Token', 'approve', pool, random(2) ? 2n ** 256n - 1n : 10n ** 20n))
    await mine()
  }

  let minted = 0
  const disposables = []
  const actions = [
    // weight, action; a failed transaction is part of the plan
    [30, who => send(who, pick(tokens), call('Token', 'transfer', pick(accounts), BigInt(1 + random(1e9)) * 10n ** BigInt(random(10))))],
    [2, who => send(who, pick(tokens), call('Token', 'transfer', pick(accounts), 10n ** 30n))],
    [7, who => send(who, pick(tokens), call('Token', 'approve', pick([...accounts, ...pools]), pick([0n, 1n, 10n ** 18n, 2n ** 256n - 1n])))],
    [4, who => send(who, pick(tokens), call('Token', 'transferFrom', pick(accounts), who, 1n + BigInt(random(1000))))],
    [10, who => { minted++; return send(who, collectible, call('Collectible', 'mint', who)) }],
    [6, who => send(who, collectible, call('Collectible', 'transferFrom', who, pick(accounts), 1 + random(minted + 1)))],
    [2, who => send(who, collectible, call('Collectible', 'approve', pick(accounts), 1 + random(minted + 1)))],
    [2, who => send(who, collectible, call('Collectible', 'setApprovalForAll', pick(accounts), random(2)))],
    [12, who => send(who, router, call('Router', 'route', Array.from({ length: 1 + random(4) }, () => pick(pools)), BigInt(1 + random(1e6)) * 10n ** 9n))],
    [4, who => send(who, pick(pools), call('Pool', 'swap', who, 10n ** 15n, random(2)))],
    [5, who => send(who, vault, call('VaultLogic', 'deposit'), { value: BigInt(1 + random(1e6)) * 10n ** 9n })],
    [4, who => send(who, vault, call('VaultLogic', 'withdraw', BigInt(1 + random(2e6)) * 10n ** 8n))],
    [1, who => send(who, vault, '0x', { value: 7 })],
    [14, who => send(who, pick(accounts), '0x', { value: BigInt(random(1e9)) * 10n ** BigInt(random(10)), gas: 60_000 })],
    [2, who => send(who, pick(accounts), '0x' + utf8('note ' + random(1000)), { value: 0, gas: 90_000 })],
    [1, who => send(who, '0x' + word(0xdead0000 + random(1e5)).slice(24), '0x', { value: 1n + BigInt(random(100)), gas: 90_000 })],
    [3, who => send(who, factory, call('Factory', 'create'), { value: random(1000) })],
    [2, who => send(who, factory, call('Factory', 'create2', random(6)), { value: random(1000) })],
    [1, who => send(who, factory, call('Factory', 'createToken', { bytes: utf8('T' + random(100)) }), { gas: 3_000_000 })],
    [1, who => send(who, factory, call('Factory', 'createStillborn'))],
    [2, who => send(who, factory, call('Factory', 'createAndDispose', pick(accounts)), { value: 1 + random(1e6) })],
    [2, async who => { disposables.push(await send(who, null, creation('Disposable'), { value: random(1e6), gas: 400_000 })) }],
    [1, who => send(who, null, creation('Stillborn'), { gas: 400_000 })],
    [2, async who => {
      const hash = disposables.shift()
      const receipt = hash && await rpc('eth_getTransactionReceipt', hash)
      return receipt
        ? send(who, receipt.contractAddress, call('Disposable', 'dispose', pick(accounts)))
        : send(who, collectible, call('Collectible', 'mint', who))
    }],
    [1, who => send(who, oddities, call('Oddities', 'bare', random(4)))],
    [1, who => send(who, oddities, call('Oddities', 'three', random(1e6), -random(1e6)))],
    [1, who => send(who, oddities, call('Oddities', 'words', pick([0, 1, 3, 40, 700])))],
    [1, who => send(who, oddities, call('Oddities', 'named', { bytes: utf8(pick(['', 'abc', 'Grüße', 'a name of more than thirty-two bytes, surely'])) }, { bytes: pick(['', '00', 'ff'.repeat(33)]) }))],
    [4, who => send(who, oddities, call('Oddities', 'fail', random(6)), { gas: 120_000 })],
    [1, who => send(who, oddities, call('Oddities', 'recurse', 1 + random(12)))],
    [1, who => send(who, oddities, call('Oddities', 'hash', { bytes: utf8('hash me ' + random(1e6)) }))],
    [1, who => send(who, oddities, '0x', { value: 1, gas: 60_000 })],
    [1, who => send(who, tokens[0], '0xdeadbeef', { gas: 60_000 })]
  ]
  const total = actions.reduce((sum, [weight]) => sum + weight, 0)
  const act = who => {
    let at = random(total)
    for (const [weight, action] of actions) {
      if (at < weight)
        return action(who)
      at -= weight
    }
  }

  while (height < BLOCKS - 1) {
    // most blocks hold a few transactions, one in eight none, some many
    const chance = random(40)
    const count = chance < 5 ? 0 : chance === 39 ? 25 : 1 + random(5)
    for (let i = 0; i < count; i++)
      await act(pick(accounts))
    await mine()
  }
}

// ---- reading it back ----

async function read() {
  const lines = []
  const callTracerLines = []
  const provenance = { chain: 'sample, chain id 31337', source: 'anvil 1.7.1, tools/make_sample_chain' }
  const counts = { transactions: 0, failed: 0, creations: 0, logs: 0, traces: 0, depth: 0, types: {} }

  for (let number = 0; number <= height; number++) {
    const tag = hex(number)
    const block = await rpc('eth_getBlockByNumber', tag, true)
    const receipts = await rpc('eth_getBlockReceipts', tag)
    const traces = await rpc('trace_block', tag)
    lines.push({ block, receipts, traces, traceFormat: 'trace_block', ...provenance })
    if (number < CALLTRACER_BLOCKS) {
      const callTraces = []
      for (const { hash } of block.transactions)
        callTraces.push({ txHash: hash, result: await rpc('debug_traceTransaction', hash, { tracer: 'callTracer' }) })
      callTracerLines.push({ block, receipts, traces: callTraces, traceFormat: 'callTracer', ...provenance })
    }
    counts.transactions += receipts.length
    for (const r of receipts) {
      counts.failed += r.status === '0x0'
      counts.creations += r.contractAddress !== null
      counts.logs += r.logs.length
      counts.types[r.type] = (counts.types[r.type] ?? 0) + 1
    }
    counts.traces += traces.length
    for (const t of traces)
      counts.depth = Math.max(counts.depth, t.traceAddress.length)
  }
  console.log(`${lines.length} blocks`, counts)
  return { lines, callTracerLines }
}

function write(name, lines) {
  const packed = gzipSync(lines.map(l => JSON.stringify(l) + '\n').join(''), { level: 9 })
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, name), packed)
  console.log(`${name}: ${lines.length} lines, ${packed.length} bytes`)
}

try {
  await clientReady()
  await drive()
  const { lines, callTracerLines } = await read()
  write('sample-evm.ndjson.gz', lines)
  write('sample-evm-calltracer.ndjson.gz', callTracerLines)
} finally {
  anvil.kill()
}
