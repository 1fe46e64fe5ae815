# Tables for the differential test: schema heap, and in schema hot the same rows
# in hotblocks.
#
#   my $keys = make_tables($node, $db, 7);      # in a database of its own
#
# What a table is like depends on the seed: its columns (of all types), where
# they are NULL, how values repeat, which rows are loaded together, and the
# settings that the chunks are written with.
#
#   plain    blocks in order, chunks of several pages
#   overlap  loads whose blocks overlap, ties, holes, a sort key of many types
#   small    little chunks beside large ones, no NULLs, block numbers of type integer
#   loose    no block column
#   negative block numbers below zero and at the ends of bigint
#   wide     all columns that a table can have here, few rows
#   spelled  a table that shows bytes and numbers as text, and numbers as others
#   part     a partitioned table of which two partitions are foreign
#   inh      a table with foreign children
#   seen     a security_barrier view of plain
#   head, tx, item   a kind with hash indexes, shared dictionaries and derived
#            columns whose source is there, comes later, never, or disagrees
package HotblocksDifferentialData;

use strict;
use warnings;
use Exporter qw(import);
use HotblocksQueries;

our @EXPORT = qw(make_tables);

# name => type, expression over g (the row)
my %types = (
	i2 => [ 'int2', 'skew(g, 11, 50)::int2 - 20' ],
	i4 => [ 'int4', 'r(g, 12, 100000)::int4 - 50000' ],
	i8 => [ 'int8', 'CASE r(g, 13, 40) WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE r(g, 14, 1000000000000) END' ],
	i8edge => [ 'int8', q{(ARRAY[9223372036854775807, 9223372036854775806, -9223372036854775808, -9223372036854775807, 0, -1, 1])[1 + r(g, 12, 7)]} ],
	i4edge => [ 'int4', q{(ARRAY[2147483647, -2147483648, 0, -1])[1 + r(g, 13, 4)]} ],
	run => [ 'int8', '(g / 700) * 1000' ],
	counter => [ 'int8', 'g * 3 + 5' ],
	small => [ 'numeric', 'skew(g, 15, 1000)::numeric' ],
	quantity => [ 'numeric', 'CASE r(g, 16, 4) WHEN 0 THEN r(g, 17, 100)::numeric WHEN 1 THEN r(g, 17, 1000000000)::numeric * 1e12::numeric(40,0) ELSE r(g, 18, 1000000) END' ],
	word => [ 'numeric', q{CASE r(g, 16, 9) WHEN 0 THEN 115792089237316195423570985008687907853269984665640564039457584007913129639935
		WHEN 1 THEN 115792089237316195423570985008687907853269984665640564039457584007913129639936
		WHEN 2 THEN -57896044618658097711785492504343953926634992332820282019728792003956564819968
		WHEN 3 THEN 18446744073709551616 WHEN 4 THEN 9223372036854775808 WHEN 5 THEN -9223372036854775809 ELSE r(g, 17, 5) END} ],
	odd => [ 'numeric', q{(ARRAY['NaN', 'Infinity', '-Infinity', '-5', '0.5', '1.0', '1.00', '1', '1e100', '7', '8', '9',
		'115792089237316195423570985008687907853269984665640564039457584007913129639935',
		'115792089237316195423570985008687907853269984665640564039457584007913129639936']::numeric[])[1 + r(g, 19, 14)]} ],
	price => [ 'numeric(20,5)', 'r(g, 19, 1000000) / 1000.0' ],
	f4 => [ 'float4', q{CASE r(g, 36, 30) WHEN 0 THEN 'NaN'::float4 WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' ELSE (r(g, 37, 1000) / 10.0)::float4 END} ],
	real => [ 'float8', q{CASE r(g, 36, 30) WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN '-Infinity' ELSE r(g, 37, 1000) / 7.0 - 20 END} ],
	address => [ 'bytea', 'bytes(skew(g, 20, 3000), 20)' ],
	kindof => [ 'bytea', 'bytes(skew(g, 21, 6), 32)' ],
	hash => [ 'bytea', 'bytes(g, 32)' ],
	data => [ 'bytea', 'substr(bytes(r(g, 22, 500), 64), 1, skew(g, 23, 64)::int)' ],
	zeros => [ 'bytea', q{(ARRAY['\x', '\x00', '\x0000', '\x000001', '\x01', '\x0100', '\xff', '\xff00']::bytea[])[1 + r(g, 22, 8)]} ],
	padded => [ 'bytea', q{CASE r(g, 22, 3) WHEN 0 THEN bytes(g, 32) ELSE decode(repeat('00', 12), 'hex') || bytes(skew(g, 23, 90), 20) END} ],
	big => [ 'bytea', q{CASE r(g, 22, 300) WHEN 0 THEN decode(repeat(md5(g::text), 700), 'hex') WHEN 1 THEN substr(decode(repeat(md5(g::text), 300), 'hex'), 1, 4096) ELSE bytes(r(g, 23, 9), 5) END} ],
	words => [ 'text COLLATE "C"', q{'w' || skew(g, 24, 700)} ],
	note => [ 'text', q{CASE WHEN r(g, 25, 3) = 0 THEN '' ELSE repeat(md5((g / 3)::text), skew(g, 26, 4)::int) END} ],
	tongue => [ 'text COLLATE "en-x-icu"', q{(ARRAY['a', 'A', 'b', 'ä', 'Z', '', 'aa', 'A a', 'é', 'e'])[1 + r(g, 27, 10)] || skew(g, 28, 9)} ],
	nocase => [ 'text COLLATE nocase', q{(ARRAY['a', 'A', 'b', 'B', 'Z', 'z', ''])[1 + r(g, 27, 7)]} ],
	short => [ 'varchar(12)', q{left(md5(skew(g, 27, 400)::text), 12)} ],
	fixed => [ 'char(6)', q{left(md5(skew(g, 27, 90)::text), skew(g, 28, 7)::int)} ],
	label => [ 'name', q{('n' || skew(g, 27, 90))::name} ],
	id => [ 'uuid', q{md5(skew(g, 28, 2500)::text)::uuid} ],
	flag => [ 'bool', 'r(g, 29, 3) = 0' ],
	day => [ 'date', q{CASE r(g, 30, 60) WHEN 0 THEN 'infinity'::date WHEN 1 THEN '-infinity' ELSE '2024-01-01'::date + r(g, 31, 900)::int END} ],
	at => [ 'timestamptz', q{to_timestamp(1700000000 + g / 7 * 12)} ],
	local => [ 'timestamp', q{CASE r(g, 30, 60) WHEN 0 THEN 'infinity'::timestamp WHEN 1 THEN '-infinity' ELSE '2023-11-14'::timestamp + r(g, 31, 90000) * interval '37 seconds' END} ],
	clock => [ 'time', q{'00:00'::time + r(g, 31, 86400) * interval '1 second'} ],
	zoned => [ 'timetz', q{(ARRAY['10:00+00', '11:00+01', '10:00-08'])[1 + r(g, 31, 3)]} ],
	span => [ 'interval', q{(ARRAY['1 month', '30 days', '720 hours', '1 year', '360 days', '-1 day', '0'])[1 + r(g, 31, 7)]} ],
	path => [ 'int4[]', q{CASE r(g, 32, 50) WHEN 0 THEN '{{1,2},{3,4}}'::int4[] WHEN 1 THEN ARRAY[1, NULL] WHEN 2 THEN '[0:1]={1,2}' WHEN 3 THEN '{}'
		ELSE (ARRAY[r(g, 33, 4)::int - 1, skew(g, 34, 5)::int])[1:1 + r(g, 35, 2)::int] END} ],
	longs => [ 'int8[]', q{ARRAY[r(g, 33, 3), 9223372036854775807]} ],
	tags => [ 'text[]', q{CASE r(g, 33, 9) WHEN 0 THEN '{}' ELSE ARRAY['t' || r(g, 34, 5), NULL, ''] END} ],
	keys => [ 'bytea[]', q{ARRAY[bytes(r(g, 34, 9), 4), '\x']} ],
	mood => [ 'mood', q{(ARRAY['sad', 'ok', 'happy', 'mad'])[1 + r(g, 34, 4)]} ],
	pair => [ 'pair', q{ROW(r(g, 34, 5)::int, CASE WHEN r(g, 35, 4) > 0 THEN 'p' || r(g, 36, 3) END)::pair} ],
	span4 => [ 'int4range', q{CASE r(g, 34, 8) WHEN 0 THEN 'empty'::int4range WHEN 1 THEN int4range(NULL, r(g, 35, 9)::int) ELSE int4range(r(g, 35, 9)::int, r(g, 35, 9)::int + 5) END} ],
	posint => [ 'posint', q{1 + r(g, 34, 20)} ],
	amount => [ 'amount', q{r(g, 34, 20)} ],
	code => [ 'code', q{'c' || r(g, 34, 50)} ],
	moods => [ 'mood[]', q{ARRAY['sad', (ARRAY['ok', 'mad'])[1 + r(g, 34, 2)]]} ],
	ip => [ 'inet', q{('10.0.' || r(g, 38, 3) || '.' || r(g, 39, 200) || '/' || (24 + r(g, 40, 9)))} ],
	net => [ 'cidr', q{('10.' || r(g, 38, 9) || '.0.0/16')} ],
	mac => [ 'macaddr', q{('08:00:2b:01:02:0' || r(g, 38, 9))} ],
	bits => [ 'bit(8)', q{r(g, 38, 256)::int::bit(8)} ],
	vbits => [ 'varbit', q{substring(r(g, 38, 256)::int::bit(8)::varbit FROM 1 FOR r(g, 39, 9)::int)} ],
	cash => [ 'money', q{(r(g, 38, 5000) - 2000)::int::money} ],
	ref => [ 'oid', q{CASE r(g, 38, 9) WHEN 0 THEN 4294967295 ELSE r(g, 39, 5000) END} ],
	txid => [ 'xid', q{r(g, 38, 50)::text::xid} ],
	lsn => [ 'pg_lsn', q{('0/' || upper(to_hex(r(g, 38, 4000))))} ],
	doc => [ 'jsonb', q{jsonb_build_object('a', r(g, 38, 9))} ],
	raw => [ 'json', q{json_build_object('a', r(g, 38, 9))} ],
	dot => [ 'point', q{point(r(g, 38, 9), 1)} ],
	vector => [ 'tsvector', q{to_tsvector('simple', 'a' || r(g, 38, 9) || ' b')} ],
	mark => [ '"char"', q{chr(65 + r(g, 39, 4)::int)::"char"} ],
	none => [ 'int4', 'NULL::int4' ],
	same => [ 'int8', '42' ],
	twin => [ 'bytea', 'bytes(skew(g, 40, 3000), 20)' ],
);
my @all = sort keys %types;
my ($node, $db, %keys);

sub sql { return $node->safe_psql($db, $_[0]); }

# Where a column is NULL; nothing: nowhere.
sub null_pattern
{
	my ($i) = @_;

	return pick('', '', '', "r(g, 500 + $i, 7) = 0", "r(g, 500 + $i, 7) = 0", "r(g, 500 + $i, 50) > 0", 'g % 2 = 0',
		'(g / 1024) % 2 = 0', 'g < 1500', 'g % 1024 IN (0, 1023)', 'true', "r(g / 100, 500 + $i, 2) = 0");
}

# A heap table of $rows rows.  u numbers them; $head are other columns.
sub make_heap
{
	my ($name, $rows, $nulls, $head, @names) = @_;
	my $select = join ', ', @$head, 'g::bigint AS u';
	my $i = 0;

	foreach my $c (@names)
	{
		my ($type, $expr) = @{ $types{$c} };
		my ($bare, $coll) = $type =~ /^(.*?)( COLLATE .*)?$/;
		my $null = $nulls ? null_pattern(++$i) : '';
		$expr = "CASE WHEN NOT ($null) THEN $expr END" if $null ne '';
		$select .= ", ($expr)::$bare" . ($coll // '') . " AS $c";
	}
	sql("CREATE TABLE heap.$name AS SELECT $select FROM generate_series(1, $rows) g; CREATE INDEX ON heap.$name (n); ANALYZE heap.$name;");
	return;
}

# Columns of a table as CREATE TABLE wants them.
sub columns_of
{
	my ($name, $order) = @_;

	return sql(qq{SELECT string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
			CASE WHEN attcollation <> typcollation THEN ' COLLATE ' || attcollation::regcollation ELSE '' END), ', ' ORDER BY $order)
		FROM pg_attribute JOIN pg_type t ON t.oid = atttypid WHERE attrelid = 'heap.$name'::regclass AND attnum > 0});
}

sub make_free
{
	my ($name, $options) = @_;

	sql("CREATE FOREIGN TABLE hot.$name (" . columns_of($name, 'attnum') . ') SERVER free' . ($options ne '' ? " OPTIONS ($options)" : ''));
	return;
}

sub load_settings
{
	my ($chunk_rows) = @_;

	return "SET hotblocks.chunk_rows = $chunk_rows; SET hotblocks.compression = " . pick('none', 'lz4', 'zstd', 'zstd')
	  . '; SET hotblocks.build_memory = ' . pick(64, 1024, 65536, 65536) . ';';
}

sub load
{
	my ($name, $chunk_rows, @conditions) = @_;

	sql(load_settings($chunk_rows) . "INSERT INTO hot.$name SELECT * FROM heap.$name WHERE $_") foreach @conditions;
	sql("ANALYZE hot.$name") if chance(3);
	return;
}

# Some of the types, in an order of their own.
sub some
{
	my ($n, @must) = @_;
	my %chosen = map { $_ => 1 } @must;

	$chosen{ pick(@all) } = 1 while keys %chosen < $n;
	return sort { $a cmp $b } keys %chosen;
}

sub free_tables
{
	my @c = some(24);
	make_heap('plain', 2100 + chance(700), 1, [ '(g / 20)::bigint AS n', '(g % 20)::int AS i' ], @c);
	make_free('plain', "block_column 'n', sort_key 'n,i'");
	load('plain', pick(1024, 1500, 2600, 200000), 'true');
	$keys{plain} = { head => 'n, i', key => 'n, i', unique => 'n, i' };
	sql('CREATE VIEW heap.seen WITH (security_barrier) AS SELECT * FROM heap.plain WHERE n % 3 > 0;
		CREATE VIEW hot.seen WITH (security_barrier) AS SELECT * FROM hot.plain WHERE n % 3 > 0');
	$keys{seen} = $keys{plain};

	@c = some(22, qw(address words at));
	make_heap('overlap', 1600, 1, [ '(r(g, 1, 300) * 2)::bigint AS n', 'r(g, 2, 6)::int AS i', 'r(g, 3, 5)::int AS part' ], @c);
	my $key = 'n,i,' . pick('address,words,at', 'at,words', 'words', 'address,u');
	make_free('overlap', "block_column 'n', sort_key '$key'");
	load('overlap', pick(300, 1025, 1300), 'part = 0', 'part = 3 AND n > 200', 'part IN (1, 2)', 'part = 3 AND n <= 200', 'part = 4');
	$keys{overlap} = { head => 'n, i', key => $key =~ s/,/, /gr, unique => 'n, i, u' };

	@c = some(20);
	make_heap('small', 1900, 0, [ '(g / 3)::int AS n', '(g % 3)::int AS i' ], @c);
	make_free('small', "block_column 'n', sort_key 'n,i'");
	load('small', pick(100, 1000), 'n < 500', (map { "n = $_" } 500 .. 510), 'n >= 511');
	$keys{small} = { head => 'n, i', key => 'n, i', unique => 'n, i' };

	make_heap('loose', 1400, 1, [ 'r(g, 4, 900)::bigint AS n', 'r(g, 5, 9)::int AS i' ], some(16));
	make_free('loose', '');
	load('loose', pick(700, 1500), 'n % 2 = 0', 'n % 2 = 1');
	$keys{loose} = { head => 'n, i', unique => 'u' };

	make_heap('negative', 1100, 1, [ 'CASE WHEN g < 10 THEN -9223372036854775808 WHEN g > 1090 THEN 9223372036854775807 ELSE g / 10 - 60 END AS n',
		'(g % 10)::int AS i' ], some(12));
	make_free('negative', "block_column 'n', sort_key 'n,i'");
	load('negative', 400, 'u % 2 = 0', 'u % 2 = 1');
	$keys{negative} = { head => 'n, i', key => 'n, i', unique => 'n, u', min => -70, max => 100 };

	make_heap('wide', 700, 1, [ '(g / 3)::bigint AS n', '(g % 3)::int AS i' ], @all);
	make_free('wide', "block_column 'n', sort_key 'n,i'");
	load('wide', pick(500, 200000), 'n < 100', 'n >= 100');
	$keys{wide} = { head => 'n, i', key => 'n, i', unique => 'n, i' };
	return;
}

# One stored value, two spellings: what the foreign table makes of it, the heap
# has as it is.
sub spelled
{
	my $rows = 900;

	sql(qq{
		CREATE FUNCTION digits(v numeric) RETURNS text LANGUAGE plpgsql IMMUTABLE AS \$\$
		DECLARE r text := ''; a numeric := abs(v);
		BEGIN
			IF v IS NULL THEN RETURN NULL; END IF;
			LOOP
				r := to_hex((a % 16)::int) || r;
				a := div(a, 16);
				EXIT WHEN a = 0;
			END LOOP;
			RETURN CASE WHEN v < 0 THEN '-' ELSE '' END || '0x' || r;
		END\$\$;
		CREATE TABLE heap.stored AS SELECT (g / 5)::bigint AS n, (g % 5)::int AS i, g::bigint AS u,
			CASE WHEN r(g, 50, 9) > 0 THEN bytes(skew(g, 20, 300), 20) END AS address, bytes(g, 32) AS hash,
			CASE WHEN r(g, 51, 9) > 0 THEN substr(bytes(r(g, 22, 50), 64), 1, skew(g, 23, 64)::int) END AS data,
			CASE WHEN r(g, 52, 9) > 0 THEN r(g, 53, 300)::int2 - 5::int2 END AS s,
			CASE r(g, 54, 6) WHEN 0 THEN NULL WHEN 1 THEN 2::numeric ^ 256 - 1 - r(g, 55, 3) WHEN 2 THEN 9223372036854775806 + r(g, 55, 4)::numeric ELSE r(g, 55, 400) END AS q,
			CASE r(g, 56, 6) WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775808 ELSE r(g, 57, 400) END AS b,
			CASE r(g, 58, 6) WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807::numeric WHEN 2 THEN -r(g, 59, 10) ELSE r(g, 59, 400) END AS w,
			CASE WHEN r(g, 60, 9) > 0 THEN r(g, 61, 50) - 9 END AS m, substr(bytes(g / 9, 64), 1, skew(g, 62, 40)::int) AS raw
			FROM generate_series(1, $rows) g;
		CREATE TABLE heap.spelled AS SELECT n, i::bigint, u::numeric, '0x' || encode(address, 'hex') AS address,
			('0x' || encode(hash, 'hex')) COLLATE "C" AS hash, '0x' || encode(data, 'hex') AS data, s::bigint,
			digits(q) AS q, digits(b) AS b, w::bigint, m::numeric, raw FROM heap.stored;
		CREATE INDEX ON heap.spelled (n);
		CREATE FOREIGN TABLE hot.stored (n bigint, i int, u bigint, address bytea, hash bytea, data bytea, s int2, q numeric, b bigint, w numeric, m bigint, raw bytea)
			SERVER free OPTIONS (block_column 'n', sort_key 'n,i');
	});
	load('stored', pick(200, 200000), "n % 3 = 1 AND n < 100", "n % 3 <> 1 OR n >= 100");
	sql(q{
		CREATE FOREIGN TABLE hot.spelled (n bigint, i bigint, u numeric, address text, hash text COLLATE "C", data text, s bigint, q text, b text,
			w bigint, m numeric, raw bytea) SERVER free OPTIONS (table 'stored');
	});
	$keys{spelled} = { head => 'n, i', key => 'n, i', unique => 'n, i' };
	$keys{stored} = $keys{spelled};
	return;
}

# Partitions have their columns in orders of their own.
sub parents
{
	make_heap('part', 1400, 1, [ '(g / 5)::bigint AS n', '(g % 5)::int AS i' ], some(10, qw(address i4)));
	my ($columns, $other) = map { columns_of('part', $_) } 'attnum', 'attname';
	sql(qq{
		CREATE TABLE hot.part ($columns) PARTITION BY RANGE (n);
		CREATE FOREIGN TABLE hot.part_1 ($other) SERVER free OPTIONS (block_column 'n', sort_key 'n,i');
		CREATE FOREIGN TABLE hot.part_2 ($columns) SERVER free OPTIONS (block_column 'n', sort_key 'n,i');
		CREATE TABLE hot.part_3 ($other);
		ALTER TABLE hot.part ATTACH PARTITION hot.part_1 FOR VALUES FROM (0) TO (100);
		ALTER TABLE hot.part ATTACH PARTITION hot.part_2 FOR VALUES FROM (100) TO (240);
		ALTER TABLE hot.part ATTACH PARTITION hot.part_3 DEFAULT;
		SET hotblocks.chunk_rows = 300;
		INSERT INTO hot.part SELECT * FROM heap.part;
		ANALYZE hot.part;
	});
	$keys{part} = { head => 'n, i', key => 'n, i', unique => 'n, i' };

	make_heap('inh', 900, 1, [ '(g / 3)::bigint AS n', '(g % 3)::int AS i' ], some(8));
	$columns = columns_of('inh', 'attnum');
	sql(qq{
		CREATE TABLE hot.inh ($columns);
		CREATE FOREIGN TABLE hot.inh_1 () INHERITS (hot.inh) SERVER free OPTIONS (block_column 'n', sort_key 'n,i');
		CREATE FOREIGN TABLE hot.inh_2 () INHERITS (hot.inh) SERVER free;
		INSERT INTO hot.inh SELECT * FROM heap.inh WHERE n < 20;
		INSERT INTO hot.inh_1 SELECT * FROM heap.inh WHERE n BETWEEN 20 AND 200;
		INSERT INTO hot.inh_2 SELECT * FROM heap.inh WHERE n > 200;
	});
	$keys{inh} = { head => 'n, i', key => 'n, i', unique => 'n, i' };
	return;
}

# A kind with hash indexes, shared dictionaries and derived columns.
sub kind_tables
{
	sql(q{
		INSERT INTO hotblocks.kind (kind, description, block_table) VALUES ('rnd', 'for this test', 'head');
		INSERT INTO hotblocks.kind_table (kind, table_name, ordinal, sort_key) VALUES
			('rnd', 'head', 1, '{n}'), ('rnd', 'tx', 2, '{n,i}'), ('rnd', 'item', 3, '{n,i,k}');
		INSERT INTO hotblocks.kind_column (kind, table_name, column_no, column_name, column_type, width, hash_index, domain, wide, derive, source_table, source_columns) VALUES
			('rnd', 'head', 1, 'n', 'bigint', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'head', 2, 'hash', 'bytea', 32, true, 0, false, NULL, NULL, NULL),
			('rnd', 'head', 3, 'at', 'timestamptz', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 1, 'n', 'bigint', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 2, 'i', 'integer', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 3, 'hash', 'bytea', 32, true, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 4, 'address', 'bytea', 20, false, 1, false, NULL, NULL, NULL),
			('rnd', 'tx', 5, 'twin', 'bytea', 20, false, 1, false, NULL, NULL, NULL),
			('rnd', 'tx', 6, 'small', 'bigint', 0, false, 0, true, NULL, NULL, NULL),
			('rnd', 'tx', 7, 'quantity', 'numeric', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 8, 'data', 'bytea', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'tx', 9, 'sighash', 'bytea', 4, false, 0, false, 'prefix4', NULL, '{data}'),
			('rnd', 'tx', 10, 'at', 'timestamptz', 0, false, 0, false, 'block', 'head', '{at}'),
			('rnd', 'item', 1, 'n', 'bigint', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'item', 2, 'i', 'integer', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'item', 3, 'k', 'integer', 0, false, 0, false, NULL, NULL, NULL),
			('rnd', 'item', 4, 'hash', 'bytea', 32, false, 0, false, 'item', 'tx', '{hash}'),
			('rnd', 'item', 5, 'at', 'timestamptz', 0, false, 0, false, 'block', 'head', '{at}'),
			('rnd', 'item', 6, 'topic', 'bytea', 32, false, 2, false, NULL, NULL, NULL),
			('rnd', 'item', 7, 'address', 'bytea', 20, false, 2, false, NULL, NULL, NULL),
			('rnd', 'item', 8, 'call', 'bytea', 20, false, 2, false, NULL, NULL, NULL),
			('rnd', 'item', 9, 'made', 'bytea', 20, false, 2, false, NULL, NULL, NULL),
			('rnd', 'item', 10, 'party', 'bytea', 20, false, 2, false, 'coalesce', NULL, '{call,made}');

		CREATE TABLE heap.head AS SELECT g::bigint AS n, bytes(-g, 32) AS hash,
			to_timestamp(1700000000 + g * 12 - CASE WHEN r(g, 80, 9) = 0 THEN 40 ELSE 0 END) AS at
			FROM generate_series(0, 399) g WHERE g % 50 <> 17;
		CREATE TABLE heap.tx AS SELECT (g / 6)::bigint AS n, (g % 6)::int AS i, bytes(g, 32) AS hash,
			bytes(skew(g, 81, 900), 20) AS address,
			CASE WHEN r(g, 82, 6) > 0 THEN bytes(skew(g, 83, 900), 20) END AS twin,
			CASE WHEN r(g, 84, 9) > 0 THEN skew(g, 85, 40) END AS small,
			CASE WHEN r(g, 86, 5) = 0 THEN 1e30::numeric(40,0) + r(g, 87, 50) ELSE r(g, 88, 20) END AS quantity,
			substr(bytes(skew(g, 89, 30), 64), 1, r(g, 90, 40)::int) AS data, NULL::bytea AS sighash, h.at
			FROM generate_series(0, 2399) g LEFT JOIN heap.head h ON h.n = g / 6;
		UPDATE heap.tx SET sighash = CASE WHEN octet_length(data) >= 4 THEN substr(data, 1, 4) END;
		CREATE TABLE heap.item AS SELECT (g / 12)::bigint AS n, (g % 12 / 3)::int AS i, (g % 12)::int AS k, t.hash, t.at,
			CASE WHEN r(g, 91, 4) = 0 THEN '\x000000000000000000000000'::bytea || bytes(skew(g, 92, 200), 20) ELSE bytes(skew(g, 93, 12), 32) END AS topic,
			bytes(skew(g, 94, 200), 20) AS address,
			CASE WHEN r(g, 95, 3) > 0 THEN bytes(skew(g, 96, 90), 20) END AS call,
			CASE WHEN r(g, 97, 3) > 0 THEN bytes(skew(g, 98, 90), 20) END AS made, NULL::bytea AS party
			FROM generate_series(0, 4499) g JOIN heap.tx t ON t.n = g / 12 AND t.i = g % 12 / 3 WHERE r(g, 99, 9) > 0;
		UPDATE heap.item SET party = coalesce(call, made);
		-- values that are not what they would be derived to be, and sources that are not there
		UPDATE heap.tx SET sighash = '\x01020304' WHERE n BETWEEN 220 AND 224;
		UPDATE heap.tx SET at = at + interval '1 second' WHERE n = 41 AND i = 3;
		UPDATE heap.tx SET at = NULL WHERE n = 43;
		UPDATE heap.item SET hash = bytes(-k, 32) WHERE n = 47 AND k % 5 = 2;
		UPDATE heap.item SET hash = NULL WHERE n BETWEEN 60 AND 61;
		UPDATE heap.item SET party = made WHERE n = 80;
		DELETE FROM heap.tx WHERE n IN (50, 51) OR n BETWEEN 340 AND 345;
		ANALYZE;

		SELECT hotblocks.create_dataset('rnd', 'rnd', 'none');
		CREATE VIEW hot.head AS SELECT * FROM rnd.head;
		CREATE VIEW hot.tx AS SELECT * FROM rnd.tx;
		CREATE VIEW hot.item AS SELECT * FROM rnd.item;
	});
	# so many one-block chunks that hashes of them are remembered; and all of them
	# in one transaction, so that the orders below are what a derived column meets
	my $load = '';
	my ($a, $b) = (100 + chance(60), 250 + chance(80));
	foreach my $part ("n < $a", "n >= $b", map { "n = $_" } $a .. $b - 1)
	{
		my @order = pick([qw(head tx item)], [qw(head tx item)], [qw(item tx head)], [qw(tx item head)], [qw(item head tx)]);
		$load .= load_settings(pick(700, 1500)) if $part =~ /[<>]/ || chance(20) == 0;
		$load .= "INSERT INTO rnd.$_ SELECT * FROM heap.$_ WHERE $part;\n" foreach @{ $order[0] };
	}
	sql($load);
	$keys{head} = { head => 'n', key => 'n', unique => 'n' };
	$keys{tx} = { head => 'n, i', key => 'n, i', unique => 'n, i' };
	$keys{item} = { head => 'n, i', key => 'n, i, k', unique => 'n, i, k' };
	return;
}

sub make_tables
{
	my $seed;

	($node, $db, $seed) = @_;
	%keys = ();
	seed_queries($seed);
	my $salt = $seed * 1009;
	sql(qq{
		CREATE EXTENSION hotblocks;
		-- 0 .. n-1 for row g, the same everywhere
		CREATE FUNCTION r(g bigint, salt int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
			AS 'SELECT (hashint8extended(g, salt + $salt) & 9223372036854775807) % n';
		-- small numbers more often than large ones
		CREATE FUNCTION skew(g bigint, salt int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
			AS 'SELECT r(g, salt, 1 + r(g, salt + 1000, n))';
		CREATE FUNCTION bytes(v bigint, n int) RETURNS bytea LANGUAGE sql IMMUTABLE
			AS \$\$SELECT substr(sha256(int8send(v)) || sha256(int8send(v + 1)), 1, n)\$\$;
		CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'mad');
		CREATE TYPE pair AS (a int, b text);
		CREATE DOMAIN posint AS int CHECK (VALUE > 0);
		CREATE DOMAIN amount AS numeric;
		CREATE DOMAIN code AS text;
		CREATE SCHEMA heap;
		CREATE SCHEMA hot;
		SELECT hotblocks.create_dataset('free', 'free', make_tables => false);
		CREATE SERVER free FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'free');
	});
	free_tables();
	spelled();
	parents();
	kind_tables();
	return \%keys;
}

1;
