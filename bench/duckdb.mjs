// DuckDB's part of bench/run scan: the same CSV, the same queries.
//
//   node duckdb.mjs HOME version                 fails where it cannot run
//   node duckdb.mjs HOME load DIR FILE [STORAGE] loads DIR/*.csv into FILE
//   node duckdb.mjs HOME query FILE ROUNDS DIR [NAME ...] <queries
//
// HOME is where npm installed @duckdb/node-api.  Two threads and otherwise
// default settings; tables in their types (BLOB, BIGINT, HUGEINT for wei,
// TIMESTAMPTZ), rows in order of block as they come, so that zone maps work,
// no indexes, as who analyses uses it.
//
// STORAGE is DuckDB's STORAGE_VERSION: without it a new file is one that old
// versions can read, which is what DuckDB writes unasked; latest packs tighter.
//
// load prints "load SECONDS BYTES": all three tables and the checkpoint.
// query prints "name milliseconds", best of ROUNDS after two to warm up; a
// round is the execution of a prepared statement in this process with all
// rows fetched: unlike PostgreSQL's there is no socket in it.  The rows go to
// DIR/name.duckdb in the form that client.c writes.

import {createRequire} from 'node:module';
import {readFileSync, statSync, writeFileSync} from 'node:fs';

const [home, verb, ...args] = process.argv.slice(2);
const {DuckDBInstance} = createRequire(home + '/')('@duckdb/node-api');

const tables = {
	blocks: `number BIGINT, hash BLOB, parent_hash BLOB, timestamp TIMESTAMPTZ,
		transactions_root BLOB, receipts_root BLOB, state_root BLOB,
		logs_bloom BLOB, sha3_uncles BLOB, extra_data BLOB, miner BLOB,
		nonce BLOB, mix_hash BLOB, size BIGINT, gas_limit BIGINT,
		gas_used BIGINT, difficulty HUGEINT, total_difficulty HUGEINT,
		base_fee_per_gas HUGEINT`,
	transactions: `block_number BIGINT, transaction_index INTEGER, hash BLOB,
		nonce BIGINT, "from" BLOB, "to" BLOB, input BLOB, value HUGEINT,
		type SMALLINT, gas BIGINT, gas_price HUGEINT,
		max_fee_per_gas HUGEINT, max_priority_fee_per_gas HUGEINT,
		v HUGEINT, r BLOB, s BLOB, y_parity SMALLINT, chain_id BIGINT,
		gas_used BIGINT, cumulative_gas_used BIGINT,
		effective_gas_price HUGEINT, contract_address BLOB, logs_bloom BLOB,
		status SMALLINT, block_timestamp TIMESTAMPTZ`,
	logs: `block_number BIGINT, transaction_index INTEGER, log_index INTEGER,
		transaction_hash BLOB, address BLOB, topic0 BLOB, topic1 BLOB,
		topic2 BLOB, topic3 BLOB, data BLOB, block_timestamp TIMESTAMPTZ`
};

async function load(dir, file, storage) {
	const instance = await DuckDBInstance.create(':memory:', {threads: '2'});
	const db = await instance.connect();
	await db.run(`ATTACH '${file}' AS bench` +
		(storage ? ` (STORAGE_VERSION '${storage}')` : ''));
	await db.run('USE bench');
	const start = performance.now();
	for (const [name, list] of Object.entries(tables)) {
		const columns = list.split(',').map(c => c.trim().split(/\s+/));
		const blobs = c => c[1] === 'BLOB';
		await db.run(`CREATE TABLE ${name} (${list})`);
		await db.run(`INSERT INTO ${name} SELECT ${columns.map(c =>
			blobs(c) ? `unhex(substr(${c[0]}, 3))` : c[0]).join(', ')}
			FROM read_csv('${dir}/${name}.csv', header = false, delim = ',',
				quote = '', escape = '', nullstr = '', auto_detect = false,
				columns = {${columns.map(c => `'${c[0].replaceAll('"', '')}': '${
					blobs(c) ? 'VARCHAR' : c[1]}'`).join(', ')}})`);
	}
	await db.run('CHECKPOINT');
	const seconds = (performance.now() - start) / 1000;
	db.closeSync();
	instance.closeSync();
	console.log(`load ${seconds.toFixed(2)} ${statSync(file).size}`);
}

function text(value) {
	if (value === null)
		return '\\N';
	if (value.bytes !== undefined)
		return '\\x' + Buffer.from(value.bytes).toString('hex');
	return value.toString();
}

async function query(file, rounds, dir, names) {
	const instance = await DuckDBInstance.create(file,
		{threads: '2', access_mode: 'READ_ONLY'});
	const db = await instance.connect();
	for (const part of readFileSync(0, 'utf8').split(/^-- (?=\w+$)/m).slice(1)) {
		const [name] = part.split('\n', 1);
		if (names.length && !names.includes(name))
			continue;
		const prepared = await db.prepare(part.slice(name.length));
		let best = Infinity;
		for (let i = 0; i < Number(rounds) + 2; i++) {
			const start = performance.now();
			const result = await prepared.runAndReadAll();
			const rows = result.getRows();
			const took = performance.now() - start;
			if (i >= 2)
				best = Math.min(best, took);
			if (i === 0)
				writeFileSync(`${dir}/${name}.duckdb`,
					rows.map(r => r.map(text).join('\t') + '\n').join(''));
		}
		console.log(`${name} ${best.toFixed(3)}`);
	}
}

async function version() {
	const db = await (await DuckDBInstance.create()).connect();
	const result = await db.runAndReadAll('SELECT version()');
	console.log(`duckdb: ${result.getRows()[0][0]}`);
}

if (verb === 'version')
	await version();
else if (verb === 'load')
	await load(...args);
else
	await query(args[0], args[1], args[2], args.slice(3));
