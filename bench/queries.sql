-- The queries of bench/run scan, in the SQL that PostgreSQL and DuckDB share.
-- A line "-- name" starts a query; :words are put in from the generator's
-- params (bytes in each one's own spelling).  Each result is compared between
-- all that ran, so it is ordered and has no floating point.

-- range_count
SELECT count(*) FROM logs WHERE block_number BETWEEN :middle AND :middle + 10;

-- topic_range
SELECT count(*) FROM logs
WHERE topic0 = :hot_topic0 AND block_number BETWEEN :middle AND :middle + 1000;

-- rare_address
SELECT block_number, transaction_index, log_index, transaction_hash,
	topic0, topic1, topic2, topic3, data
FROM logs WHERE address = :rare_address ORDER BY block_number, log_index;

-- hot_address
SELECT count(*) FROM logs WHERE address = :hot_address AND topic0 = :hot_topic0;

-- hash_lookup
SELECT block_number, transaction_index, "from", "to", nonce, value, gas_used,
	status, input
FROM transactions WHERE hash = :tx_hash;

-- count_by_topic
SELECT topic0, count(*) FROM logs GROUP BY topic0 ORDER BY 2 DESC, 1;

-- four_aggregates
SELECT count(*), sum(gas_used), max(gas_price), sum(value) FROM transactions;

-- gas_by_block
SELECT block_number, sum(gas_used) AS gas FROM transactions
WHERE block_number BETWEEN :first_block AND :first_block + :half
GROUP BY block_number ORDER BY gas DESC, block_number LIMIT 10;

-- last_logs
SELECT block_number, log_index, address, topic0, topic1, topic2, topic3, data
FROM logs ORDER BY block_number DESC, log_index DESC LIMIT 10;
