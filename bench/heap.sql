-- The same rows as plain tables, with the btrees of a careful indexer.
CREATE SCHEMA heap;

CREATE TABLE heap.blocks (
	number bigint PRIMARY KEY,
	hash bytea NOT NULL,
	parent_hash bytea,
	timestamp timestamptz,
	transactions_root bytea,
	receipts_root bytea,
	state_root bytea,
	logs_bloom bytea,
	sha3_uncles bytea,
	extra_data bytea,
	miner bytea,
	nonce bytea,
	mix_hash bytea,
	size bigint,
	gas_limit bigint,
	gas_used bigint,
	difficulty numeric,
	total_difficulty numeric,
	base_fee_per_gas numeric
);

CREATE TABLE heap.transactions (
	block_number bigint NOT NULL,
	transaction_index integer NOT NULL,
	hash bytea NOT NULL,
	nonce bigint,
	"from" bytea,
	"to" bytea,
	input bytea,
	value numeric,
	type smallint,
	gas bigint,
	gas_price numeric,
	max_fee_per_gas numeric,
	max_priority_fee_per_gas numeric,
	v numeric,
	r bytea,
	s bytea,
	y_parity smallint,
	chain_id bigint,
	gas_used bigint,
	cumulative_gas_used bigint,
	effective_gas_price numeric,
	contract_address bytea,
	logs_bloom bytea,
	status smallint,
	block_timestamp timestamptz,
	PRIMARY KEY (block_number, transaction_index)
);
CREATE INDEX ON heap.transactions (hash);
CREATE INDEX ON heap.transactions ("from");
CREATE INDEX ON heap.transactions ("to");

CREATE TABLE heap.logs (
	block_number bigint NOT NULL,
	transaction_index integer NOT NULL,
	log_index integer NOT NULL,
	transaction_hash bytea,
	address bytea,
	topic0 bytea,
	topic1 bytea,
	topic2 bytea,
	topic3 bytea,
	data bytea,
	block_timestamp timestamptz,
	PRIMARY KEY (block_number, log_index)
);
CREATE INDEX ON heap.logs (address);
CREATE INDEX ON heap.logs (topic0);
