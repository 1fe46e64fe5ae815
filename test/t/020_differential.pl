# Hotblocks answers what a heap table with the same rows answers.
#
# Tables of many types are filled with skewed values and NULLs, loaded in
# overlapping pieces into many small chunks, and asked hundreds of queries:
# trees of conditions with constants that occur, nearly occur, or lie at the
# ends of their types; lists of thousands of values; orders in both directions
# with LIMIT; parameters of nested loops.  Each query goes to the heap, to
# hotblocks, and to hotblocks with every way of skipping turned off.
#
# DIFFERENTIAL_SEED and DIFFERENTIAL_QUERIES change what is asked.
use strict;
use warnings;
use HotblocksCluster;
use Test::More;

my $seed = $ENV{DIFFERENTIAL_SEED} // 7;
my $nqueries = $ENV{DIFFERENTIAL_QUERIES} // 170;

my $node = HotblocksCluster->new('differential');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nlog_statement = none\n");
$node->start;

# perl's own generator differs between versions
my $state = $seed;

sub chance
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return int($state / 65536) % $n;
}

sub pick { return $_[ chance(scalar @_) ]; }

sub run { return $node->safe_psql('postgres', $_[0]); }

run(q{
	CREATE EXTENSION hotblocks;
	-- 0 .. n-1 for row g, the same everywhere
	CREATE FUNCTION r(g bigint, salt int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
		AS 'SELECT (hashint8extended(g, salt) & 9223372036854775807) % n';
	-- small numbers more often than large ones
	CREATE FUNCTION skew(g bigint, salt int, n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
		AS 'SELECT r(g, salt, 1 + r(g, salt + 1000, n))';
	CREATE FUNCTION bytes(v bigint, n int) RETURNS bytea LANGUAGE sql IMMUTABLE
		AS $$SELECT substr(sha256(int8send(v)) || sha256(int8send(v + 1)), 1, n)$$;
	CREATE SCHEMA heap;
});

#
# The tables.  A column: its type, an expression over g (the row) that fills
# it, constants to compare with beside those that occur, and how a kind may
# store it.
#
my @numeric_ends = map { "'$_'::numeric" }
  qw(0 1 -1 0.5 -0.5 1.0 1.5 NaN Infinity -Infinity 9223372036854775807
  9223372036854775808 9223372036854775806.5 -9223372036854775808 18446744073709551616
  115792089237316195423570985008687907853269984665640564039457584007913129639935
  115792089237316195423570985008687907853269984665640564039457584007913129639936
  115792089237316195423570985008687907853269984665640564039457584007913129639934.5 1e100);

my %types = (
	i2 => [ 'int2', 'skew(g, 11, 50)::int2 - 20', [ "'-32768'::int2", "32767::int2", '40000', '3::bigint' ] ],
	i4 => [ 'int4', 'r(g, 12, 100000)::int4 - 50000', [ "'-2147483648'::int4", '2147483647', '3000000000', '0::int2' ] ],
	i8 => [ 'int8', 'CASE r(g, 13, 40) WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE r(g, 14, 1000000000000) END',
		[ "9223372036854775807", "'-9223372036854775808'::bigint", '0', '1::int2' ] ],
	small => [ 'numeric', 'skew(g, 15, 1000)::numeric', [@numeric_ends] ],
	quantity => [ 'numeric', 'CASE r(g, 16, 4) WHEN 0 THEN r(g, 17, 100)::numeric WHEN 1 THEN r(g, 17, 1000000000)::numeric * 1e12::numeric(40,0) ELSE r(g, 18, 1000000) END',
		[@numeric_ends] ],
	odd => [ 'numeric', q{(ARRAY['NaN', 'Infinity', '-Infinity', '-5', '0.5', '1.0', '1.00', '1', '1e100', '7', '8', '9',
		'115792089237316195423570985008687907853269984665640564039457584007913129639935',
		'115792089237316195423570985008687907853269984665640564039457584007913129639936']::numeric[])[1 + r(g, 19, 14)]},
		[@numeric_ends] ],
	address => [ 'bytea', 'bytes(skew(g, 20, 3000), 20)', [ q{'\x'::bytea}, q{'\xff'::bytea}, q{'\x00000000000000000000000000000000000000'::bytea} ] ],
	kindof => [ 'bytea', 'bytes(skew(g, 21, 6), 32)', [ q{'\xff00'::bytea}, q{'\x80'::bytea} ] ],
	hash => [ 'bytea', 'bytes(g, 32)', [ q{'\x40'::bytea}, q{'\xc0ffee'::bytea} ] ],
	data => [ 'bytea', 'substr(bytes(r(g, 22, 500), 64), 1, skew(g, 23, 64)::int)', [ q{'\x'::bytea}, q{'\x7f'::bytea} ] ],
	words => [ 'text COLLATE "C"', q{'w' || skew(g, 24, 700)}, [ "''", "'w5'", "'w\u{e4}'", "'w1 '" ] ],
	note => [ 'text', q{CASE WHEN r(g, 25, 3) = 0 THEN '' ELSE repeat(md5((g / 3)::text), skew(g, 26, 4)::int) END}, [ "''", "'a'" ] ],
	short => [ 'varchar(12)', q{left(md5(skew(g, 27, 400)::text), 12)}, [ "'0'::varchar", "'f'::text" ] ],
	id => [ 'uuid', q{md5(skew(g, 28, 2500)::text)::uuid}, [ "'00000000-0000-0000-0000-000000000000'::uuid", "'80000000-0000-0000-0000-000000000000'::uuid" ] ],
	flag => [ 'bool', 'r(g, 29, 3) = 0', [ 'true', 'false' ] ],
	day => [ 'date', q{CASE r(g, 30, 60) WHEN 0 THEN 'infinity'::date WHEN 1 THEN '-infinity' ELSE '2024-01-01'::date + r(g, 31, 900)::int END},
		[ "'infinity'::date", "'-infinity'::date", "'2025-01-01'::date" ] ],
	at => [ 'timestamptz', q{to_timestamp(1700000000 + g / 7 * 12)}, [ "'infinity'::timestamptz", "'2023-11-15 00:00Z'::timestamptz", "'1970-01-01Z'::timestamptz" ] ],
	path => [ 'int4[]', q{CASE r(g, 32, 50) WHEN 0 THEN '{{1,2},{3,4}}'::int4[] WHEN 1 THEN ARRAY[1, NULL] WHEN 2 THEN '[0:1]={1,2}' WHEN 3 THEN '{}'
		ELSE (ARRAY[r(g, 33, 4)::int - 1, skew(g, 34, 5)::int])[1:1 + r(g, 35, 2)::int] END},
		[ "'{}'::int4[]", "ARRAY[1,2]", "ARRAY[1,NULL]::int4[]", "'[0:1]={1,2}'::int4[]", "'{{1,2},{3,4}}'::int4[]", "ARRAY[-2147483648]", "ARRAY[1]" ] ],
	real => [ 'float8', q{CASE r(g, 36, 30) WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' ELSE r(g, 37, 1000) / 7.0 - 20 END}, [ "'NaN'::float8", '0::float8', "'-Infinity'::float8" ] ],
	doc => [ 'jsonb', q{jsonb_build_object('a', r(g, 38, 9))}, [] ],
	mark => [ '"char"', q{chr(65 + r(g, 39, 4)::int)::"char"}, [ q{'A'::"char"}, q{'z'::"char"} ] ],
	none => [ 'int4', 'NULL::int4', ['1'] ],
	same => [ 'int8', '42', [ '42', '41' ] ],
	twin => [ 'bytea', 'bytes(skew(g, 40, 3000), 20)', [] ],
);
my %unordered = map { $_ => 1 } qw(doc);

# A heap table and what is to be known of its columns; $rows of them, with
# about one in $nulls NULL.
sub make_heap
{
	my ($name, $rows, $nulls, $head, @names) = @_;
	my @columns;
	my $select = join ', ', @$head;
	my $i = 0;

	foreach my $c (@names)
	{
		my ($type, $expr, $more) = @{ $types{$c} };
		$i++;
		$expr = "CASE WHEN r(g, 500 + $i, $nulls) > 0 THEN $expr END" if $nulls && $c ne 'same';
		$select .= ", ($expr)::" . ($type =~ s/ COLLATE.*//r) . ($type =~ /COLLATE/ ? ' COLLATE "C"' : '') . " AS $c";
	}
	run("CREATE TABLE heap.$name AS SELECT $select FROM generate_series(1, $rows) g; CREATE INDEX ON heap.$name (n, i); ANALYZE heap.$name;");
	return;
}

# Literals of values that occur in a column.
sub sample
{
	my ($name, $c, $type) = @_;

	$type =~ s/ COLLATE.*//;
	return map { "$_\::$type" } split /\n/, run(qq{
		SELECT quote_literal(v) FROM (SELECT DISTINCT $c\::text AS v FROM heap.$name
			WHERE $c IS NOT NULL) d ORDER BY hashtextextended(v, $seed) LIMIT 12});
}

sub condition
{
	my ($t) = @_;
	my $c = pick(@{ $t->{columns} });
	my $n = $c->{name};
	my @v = @{ $c->{values} };
	my $v = sub { return pick(@v) };

	return "$n IS " . pick('', 'NOT ') . 'NULL' if !@v || chance(12) == 0;
	if ($c->{type} eq 'bool' && chance(2))
	{
		return pick("$n", "NOT $n", "$n IS TRUE", "$n IS NOT FALSE", "$n IS NOT TRUE", "$n IS UNKNOWN");
	}
	my $kind = chance(14);
	return "$n = " . $v->() if $kind < 3;
	return "$n IN (" . join(', ', map { $v->() } 0 .. chance(6)) . ')' if $kind == 3;
	return "$n NOT IN (" . join(', ', map { $v->() } 0 .. chance(3)) . ')' if $kind == 4;
	return "$n = ANY (ARRAY(SELECT h.$n FROM heap.$t->{name} h WHERE h.n % " . (2 + chance(9)) . ' = 0))'
	  if $kind == 5 && $c->{type} !~ /\[/;
	return "$n BETWEEN " . $v->() . ' AND ' . $v->() if $kind == 6;
	return "$n > " . $v->() . " AND $n <= " . $v->() if $kind == 7;
	return "$n IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . $v->() if $kind == 8;
	return "NOT ($n " . pick('<', '=', '>=') . ' ' . $v->() . ')' if $kind == 9;
	return "$n <> " . $v->() if $kind == 10;
	return "$n " . pick('<', '<=', '>', '>=') . ' ' . $v->();
}

sub tree
{
	my ($t, $depth) = @_;

	return condition($t) if $depth == 0 || chance(3) == 0;
	my $op = pick(' AND ', ' OR ');
	return '(' . join($op, map { tree($t, $depth - 1) } 0 .. 1 + chance(2)) . ')';
}

sub where
{
	my ($t) = @_;
	my @parts;
	my $blocks = $t->{blocks};
	my ($a, $b) = (chance($blocks + 20) - 10, chance($blocks + 20) - 10);

	if ($t->{has_blocks} && chance(2))
	{
		push @parts, pick("n = $a", "n >= $a", "n < $b", "n BETWEEN $a AND $b", "n BETWEEN $a AND $a + 20",
			"n IN ($a, $b, $a + 1)", "n <> $a", "(n < $a OR n > $b)", "n = $a AND i = " . chance(8),
			"(n, i) > ($a, 3)", "(n, i) <= ($b, 2) AND n > $a", "n > $a AND n < $a");
	}
	push @parts, tree($t, 2) if !@parts || chance(4);
	return join ' AND ', @parts;
}

# A query with SIDE for the schema, and whether the order of its rows counts.
sub query
{
	my ($t) = @_;
	my $where = where($t);
	my $from = "SIDE.$t->{name}";
	my $kind = chance(12);
	my @columns = map { $_->{name} } @{ $t->{columns} };
	my @some = map { pick(@columns) } 0 .. chance(6);

	return ("SELECT count(*) FROM $from WHERE $where", 0) if $kind == 0;
	return ("SELECT * FROM $from WHERE $where", 0) if $kind < 3;
	if ($kind < 6 && $t->{key})
	{
		my $direction = pick('', ' DESC');
		my $order = join ', ', map { "$_$direction" } split /, /, $t->{key};
		my $limit = pick('', ' LIMIT ' . (1 + chance(40)), ' LIMIT ' . (1 + chance(3000)), ' OFFSET ' . chance(900) . ' LIMIT 50');
		# ties come in any order, so only what is ordered is compared
		return ("SELECT $t->{key} FROM $from WHERE $where ORDER BY $order$limit", 1);
	}
	if ($kind == 6)
	{
		my $c = pick(grep { $_->{type} !~ /\[|json/ } @{ $t->{columns} })->{name};
		return ("SELECT p.$c AS pc, s.* FROM (SELECT DISTINCT $c FROM heap.$t->{name} WHERE n % 400 = 1) p, "
			  . "LATERAL (SELECT n, i, $c FROM $from s WHERE s.$c = p.$c AND $where OFFSET 0) s", 0);
	}
	if ($kind == 7 && $t->{has_blocks})
	{
		return ("SELECT p.n AS pn, s.* FROM (SELECT DISTINCT n, i FROM heap.$t->{name} WHERE hash_pick(n) AND i < 3) p, "
			  . "LATERAL (SELECT n, i, " . pick(@columns) . " AS x FROM $from s WHERE s.n = p.n AND s.i = p.i OFFSET 0) s", 0);
	}
	return ('SELECT ' . join(', ', map { "$_" } @some) . " FROM $from WHERE $where", 0);
}

my $off = join ' ', map { "SET hotblocks.enable_$_ = off;" } qw(page_skipping dictionary_filter page_lists hash_index);
my $on = $off =~ s/= off/= on/gr;

# Runs queries on all sides; the ones that do not agree, with what came.
sub differing
{
	my (@queries) = @_;
	my $script = "SET client_min_messages = error;\n";
	my (@bad, %seen);
	my ($out, $err) = ('', '');

	for my $i (0 .. $#queries)
	{
		my ($sql, $ordered) = @{ $queries[$i] };
		# row text of -0 and 0, 1.0 and 1 differ: rows must come back as they were
		my $agg = $ordered ? 'md5(string_agg(r::text, chr(10)))' : 'sum(hashtextextended(r::text, 0)::numeric)::text';
		foreach my $side ('heap', 'hot', 'off')
		{
			my $schema = $side eq 'heap' ? 'heap' : 'hot';
			my $q = $sql =~ s/SIDE\./$schema./gr;
			my $ask = "SELECT $i, '$side', count(*), coalesce($agg, '') FROM ($q) r";
			$script .= $off if $side eq 'off';
			$script .= $i % 4 == 0
			  ? "SET plan_cache_mode = force_generic_plan; PREPARE q AS $ask; EXECUTE q; DEALLOCATE q; RESET plan_cache_mode;\n"
			  : "$ask;\n";
			$script .= $on if $side eq 'off';
		}
	}
	$node->psql('postgres', $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	foreach my $line (split /\n/, $out)
	{
		my ($i, $side, $n, $hash) = split /\|/, $line;
		$seen{$i}{$side} = "$n rows $hash";
	}
	for my $i (0 .. $#queries)
	{
		my @got = map { $seen{$i}{$_} // 'failed' } qw(heap hot off);
		push @bad, "$queries[$i][0]\n  heap: $got[0]\n  hotblocks: $got[1]\n  switches off: $got[2]"
		  if $got[0] eq 'failed' || $got[0] ne $got[1] || $got[0] ne $got[2];
	}
	unshift @bad, substr($err, 0, 3000) if $err ne '';
	return @bad;
}

sub compare
{
	my ($t) = @_;
	my @queries = map { [ query($t) ] } 1 .. $nqueries;
	my @bad = differing([ "SELECT * FROM SIDE.$t->{name}", 0 ], [ "SELECT count(*) FROM SIDE.$t->{name}", 0 ], @queries);

	is(scalar @bad, 0, "$t->{name}: $nqueries queries give the heap's rows")
	  or diag "seed $seed\n" . join "\n", @bad[ 0 .. ($#bad < 7 ? $#bad : 7) ];
	return;
}

# Descending is exactly ascending backwards, ties included, and neither sorts.
sub compare_orders
{
	my ($t) = @_;
	my $down = join ', ', map { "$_ DESC" } split /, /, $t->{key};

	is(run(qq{SELECT (SELECT md5(string_agg(r::text, chr(10))) FROM (SELECT * FROM hot.$t->{name} ORDER BY $t->{key}) r)
			= (SELECT md5(string_agg(r, chr(10) ORDER BY k DESC)) FROM
				(SELECT r::text AS r, row_number() OVER () AS k FROM (SELECT * FROM hot.$t->{name} ORDER BY $down) r) r)}),
		't', "$t->{name}: descending is ascending backwards");
	unlike(run("EXPLAIN SELECT * FROM hot.$t->{name} ORDER BY $down"), qr/Sort/, "$t->{name}: no Sort");
	return;
}

sub describe
{
	my ($name, $has_blocks, $key, $blocks, @names) = @_;
	my %t = (name => $name, has_blocks => $has_blocks, key => $key, blocks => $blocks);

	foreach my $c (@names)
	{
		my ($type, $expr, $more) = @{ $types{$c} };
		my @values = $unordered{$c} ? () : (sample($name, $c, $type), @$more);
		push @{ $t{columns} }, { name => $c, type => $type, values => \@values };
	}
	return \%t;
}

# A foreign table of kind free with the heap table's columns.
sub make_free
{
	my ($name, $options) = @_;
	my $columns = run(qq{SELECT string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod),
			CASE WHEN attcollation = 'pg_catalog."C"'::regcollation THEN ' COLLATE "C"' ELSE '' END), ', ' ORDER BY attnum)
		FROM pg_attribute WHERE attrelid = 'heap.$name'::regclass AND attnum > 0});

	run("CREATE FOREIGN TABLE hot.$name ($columns) SERVER free" . ($options ne '' ? " OPTIONS ($options)" : ''));
	return;
}

sub load
{
	my ($name, $chunk_rows, @conditions) = @_;

	run("SET hotblocks.chunk_rows = $chunk_rows; INSERT INTO hot.$name SELECT * FROM heap.$name WHERE $_")
	  foreach @conditions;
	run("ANALYZE hot.$name");
	return;
}

run(q{
	CREATE FUNCTION hash_pick(n bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT r(n, 77, 40) = 0';
	SELECT hotblocks.create_dataset('free', 'free', make_tables => false);
	CREATE SCHEMA hot;
	CREATE SERVER free FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'free');
});

my @all = sort keys %types;

# Blocks in order: chunks do not overlap, several pages each.
make_heap('plain', 6000, 7, [ '(g / 20)::bigint AS n', '(g % 20)::int AS i' ], @all);
make_free('plain', "block_column 'n', sort_key 'n,i'");
load('plain', 2600, 'true');
my $t = describe('plain', 1, 'n, i', 300, @all);
compare($t);
compare_orders($t);

# Loads that overlap, ties, a sort key of every form, holes between blocks.
make_heap('overlap', 4000, 5, [ '(r(g, 1, 300) * 2)::bigint AS n', 'r(g, 2, 6)::int AS i', 'r(g, 3, 5)::int AS part' ], @all);
make_free('overlap', "block_column 'n', sort_key 'n,i,address,words,at'");
load('overlap', 1300, 'part = 0', 'part = 3 AND n > 200', 'part IN (1, 2)', 'part = 3 AND n <= 200', 'part = 4');
$t = describe('overlap', 1, 'n, i, address, words, at', 600, @all);
compare($t);
compare_orders($t);

# Little chunks, no NULLs, a block number of type integer.
make_heap('small', 4000, 0, [ '(g / 3)::int AS n', '(g % 3)::int AS i' ], @all);
make_free('small', "block_column 'n', sort_key 'n,i'");
load('small', 1000, 'n < 500', 'n >= 500 AND n < 510', 'n >= 510 AND n < 511', 'n >= 511');
$t = describe('small', 1, 'n, i', 1333, @all);
compare($t);
compare_orders($t);

# No block column.
make_heap('loose', 3000, 6, [ 'r(g, 4, 900)::bigint AS n', 'r(g, 5, 9)::int AS i' ], @all);
make_free('loose', '');
load('loose', 1500, 'n % 2 = 0', 'n % 2 = 1');
compare(describe('loose', 0, undef, 900, @all));

#
# A kind with hash indexes, shared dictionaries and derived columns.
#
run(q{
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

	CREATE TABLE heap.head AS SELECT g::bigint AS n, 0 AS i, bytes(-g, 32) AS hash,
		to_timestamp(1700000000 + g * 12 - CASE WHEN r(g, 80, 9) = 0 THEN 40 ELSE 0 END) AS at
		FROM generate_series(0, 399) g WHERE g % 50 <> 17;
	CREATE TABLE heap.tx AS SELECT (g / 12)::bigint AS n, (g % 12)::int AS i, bytes(g, 32) AS hash,
		bytes(skew(g, 81, 900), 20) AS address,
		CASE WHEN r(g, 82, 6) > 0 THEN bytes(skew(g, 83, 900), 20) END AS twin,
		CASE WHEN r(g, 84, 9) > 0 THEN skew(g, 85, 40) END AS small,
		CASE WHEN r(g, 86, 5) = 0 THEN 1e30::numeric(40,0) + r(g, 87, 50) ELSE r(g, 88, 20) END AS quantity,
		substr(bytes(skew(g, 89, 30), 64), 1, r(g, 90, 40)::int) AS data, NULL::bytea AS sighash, h.at
		FROM generate_series(0, 4799) g LEFT JOIN heap.head h ON h.n = g / 12;
	UPDATE heap.tx SET sighash = CASE WHEN octet_length(data) >= 4 THEN substr(data, 1, 4) END;
	-- values that are not what they would be derived to be: stored
	UPDATE heap.tx SET sighash = '\x01020304' WHERE n BETWEEN 220 AND 224;
	CREATE TABLE heap.item AS SELECT (g / 36)::bigint AS n, (g % 36 / 3)::int AS i, (g % 36)::int AS k, t.hash, t.at,
		CASE WHEN r(g, 91, 4) = 0 THEN '\x000000000000000000000000'::bytea || bytes(skew(g, 92, 200), 20) ELSE bytes(skew(g, 93, 12), 32) END AS topic,
		bytes(skew(g, 94, 200), 20) AS address,
		CASE WHEN r(g, 95, 3) > 0 THEN bytes(skew(g, 96, 90), 20) END AS call,
		CASE WHEN r(g, 97, 3) > 0 THEN bytes(skew(g, 98, 90), 20) END AS made, NULL::bytea AS party
		FROM generate_series(0, 11999) g JOIN heap.tx t ON t.n = g / 36 AND t.i = g % 36 / 3 WHERE r(g, 99, 9) > 0;
	UPDATE heap.item SET party = coalesce(call, made);
	ANALYZE;

	SELECT hotblocks.create_dataset('rnd', 'rnd', 'none');
});
run(q{
	ALTER SCHEMA rnd RENAME TO hot_rnd;
	CREATE VIEW hot.head AS SELECT n, 0 AS i, hash, at FROM hot_rnd.head;
	CREATE VIEW hot.tx AS SELECT * FROM hot_rnd.tx;
	CREATE VIEW hot.item AS SELECT * FROM hot_rnd.item;
});
# so many one-block chunks that hashes of them are remembered
my $load = "SET hotblocks.chunk_rows = 1500;\n";
foreach my $part ('n < 150', 'n >= 320', map { "n = $_" } 150 .. 319)
{
	$load .= qq{
		INSERT INTO hot_rnd.head SELECT n, hash, at FROM heap.head WHERE $part;
		INSERT INTO hot_rnd.tx SELECT * FROM heap.tx WHERE $part;
		INSERT INTO hot_rnd.item SELECT * FROM heap.item WHERE $part;};
}
run($load);

sub kind_table
{
	my ($name, $key, %columns) = @_;
	my %t = (name => $name, has_blocks => 1, key => $key, blocks => 400);

	foreach my $c (sort keys %columns)
	{
		my $type = $columns{$c};
		my $more = $type eq 'bytea' ? [ map { "'\\x$_'::bytea" } '', 'f0', '00' x 12, '00' x 12 . 'f0', '00' x 20, '00' x 33, 'ff' x 20, 'ff' x 40 ]
		  : $type eq 'timestamptz' ? [ "'2023-11-14 23:00Z'::timestamptz", "'infinity'::timestamptz" ]
		  : $type eq 'numeric' ? [@numeric_ends] : [ '5', "'9223372036854775807'::bigint" ];
		push @{ $t{columns} }, { name => $c, type => $type, values => [ sample($name, $c, $type), @$more ] };
	}
	compare(\%t);
	compare_orders(\%t) if $key =~ /, /;
	return;
}

kind_table('head', 'n', hash => 'bytea', at => 'timestamptz');
kind_table('tx', 'n, i', hash => 'bytea', address => 'bytea', twin => 'bytea', small => 'bigint',
	quantity => 'numeric', data => 'bytea', sighash => 'bytea', at => 'timestamptz');
kind_table('item', 'n, i, k', hash => 'bytea', at => 'timestamptz', topic => 'bytea', address => 'bytea',
	call => 'bytea', made => 'bytea', party => 'bytea');

$node->stop;
done_testing();
