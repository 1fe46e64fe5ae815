# Stored values under other types, and text under any collation: what a copy in
# heap tables answers.
use strict;
use warnings;
use HotblocksCluster;
use HotblocksDifferential;
use Test::More;

my $seed = $ENV{DIFFERENTIAL_SEED} // 7;
my $db = 'postgres';
my $node = HotblocksCluster->new('spelling');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nautovacuum = off\n");
$node->start;

sub run { return $node->safe_psql($db, $_[0]); }

# a generator that is the same everywhere
my $state = $seed;

sub chance
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return int($state / 65536) % $n;
}

sub pick { return $_[ chance(scalar @_) ]; }

# Runs queries, with SCHEMA for the schema, on both; those that differ.
sub differing
{
	my ($schema, $heap, @queries) = @_;
	my $script = "SET client_min_messages = error;\n";
	my ($out, $err) = ('', '');
	my (@seen, @bad);

	foreach my $i (0 .. $#queries)
	{
		my ($sql, $ordered) = @{ $queries[$i] };
		my $order = $ordered ? '' : 'ORDER BY r::text COLLATE "C"';

		foreach my $side ($schema, $heap)
		{
			(my $query = $sql) =~ s/SCHEMA\./$side./g;
			$script .= "SELECT $i, count(*) || ' rows, ' || coalesce(md5(string_agg(r::text, chr(10) $order)), '') FROM ($query) r;\n";
		}
	}
	$node->psql($db, $script, stdout => \$out, stderr => \$err, on_error_stop => 0);
	foreach my $line (split /\n/, $out)
	{
		my ($i, $rows) = split /\|/, $line;
		push @{ $seen[$i] }, $rows;
	}
	foreach my $i (0 .. $#queries)
	{
		my @got = @{ $seen[$i] // [] };

		push @bad, join "\n  ", $queries[$i][0], @got
		  if @got != 2 || $got[0] ne $got[1];
	}
	push @bad, $err if $err ne '';
	return @bad;
}

# The sample chain: bytes as text, and numbers of all kinds as others.
my $sample = HotblocksCluster::sample_chain();
run(qq{
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('eth', 'evm');
	SET hotblocks.chunk_rows = 1000;
	SELECT hotblocks.load_file('eth', '$sample');
	CREATE SCHEMA hex;
	IMPORT FOREIGN SCHEMA evm FROM SERVER eth INTO hex OPTIONS (spelling 'hex');
	CREATE SCHEMA num;
	IMPORT FOREIGN SCHEMA evm FROM SERVER eth INTO num;
});
run(q{
	DO $$
	DECLARE
		a record;
	BEGIN
		FOR a IN SELECT attrelid::regclass AS rel, attname, attnum, atttypid::regtype::text AS type FROM pg_attribute
			WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'num'::regnamespace AND relname <> 'block_feed')
				AND attnum > 0 AND atttypid = ANY ('{bigint,integer,smallint,numeric}'::regtype[])
		LOOP
			EXECUTE format('ALTER FOREIGN TABLE %s ALTER COLUMN %I TYPE %s', a.rel, a.attname,
				CASE WHEN a.attname IN ('number', 'block_number') THEN 'numeric' WHEN a.attname = 'transaction_index' THEN 'bigint'
					WHEN a.attnum % 2 = 0 OR a.type = 'numeric' THEN 'text' ELSE 'numeric' END);
		END LOOP;
	END $$;
});
heap_copy($node, $db, 'hex', 'heaphex');
heap_copy($node, $db, 'num', 'heapnum');
differential($node, $db, 'hex', 'heaphex', seed => $seed, queries => 15);
differential($node, $db, 'num', 'heapnum', seed => $seed + 1, queries => 15);
is(run('SELECT count(*) FROM (TABLE hex.logs EXCEPT ALL TABLE heaphex.logs) d'), 0, 'the copy is one');

# Text that occurs, and text that nearly does.
sub variant
{
	my ($v) = @_;
	my $n = length $v;

	return pick(
		$v, $v, $v, $v,
		uc $v,
		substr($v, 0, chance($n + 1)),
		substr($v, 0, chance($n + 1)) . pick('0', 'f', 'g', 'A', ':', '!', "\xc3\xa9", '00'),
		$v . pick('0', '00', 'ff', ' '),
		'0X' . substr($v, 2),
		lc(uc $v));
}

sub condition
{
	my ($name, @values) = @_;
	my ($v, $w) = map { "'" . variant($_) . "'" } pick(@values), pick(@values);
	my $raw = pick(@values);
	my $n = chance(12) + 1;
	my $start = substr($raw, 0, $n);

	return pick(
		"$name = $v",
		"$name <> $v",
		"$name IN ($v, $w, '$raw')",
		"$name = ANY (ARRAY[$v, NULL, '$raw'])",
		"$name NOT IN ($v, $w)",
		"$name IS DISTINCT FROM $v",
		"lower($name) = $v",
		"lower($name) = lower($v)",
		"upper($name) = upper($v)",
		"$name " . pick('<', '<=', '>', '>=') . " $v",
		"$name COLLATE \"C\" " . pick('<', '<=', '>', '>=') . " $v",
		"$name COLLATE \"C\" BETWEEN $v AND $w",
		"$name LIKE $v",
		"$name LIKE '$start%'",
		"$name NOT LIKE '$start%'",
		"$name ILIKE '" . uc($start) . "%'",
		"starts_with($name, $v)",
		"$name ^@ '$start'",
		"substr($name, 1, $n) = '$start'",
		"left($name, $n) <> '$start'",
		"left($name, $n) = $v",
		"length($name) " . pick('<', '<=', '=', '<>', '>', '>=') . ' ' . pick(length $raw, 2, 3, 10),
		"octet_length($name) IN (2, " . length($raw) . ')',
		"$name = (SELECT $v)",
		"$name IS NULL");
}

sub where
{
	my ($columns) = @_;
	my @parts = map { my $c = pick(@$columns); condition(@$c) } 1 .. 1 + chance(3);

	return 'NOT (' . join(' OR ', @parts) . ')' if chance(6) == 0;
	return join pick(' AND ', ' OR '), @parts;
}

foreach my $table (qw(logs transactions traces))
{
	my @columns;
	my @names = split /\n/,
	  run(qq{SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = 'hex.$table'::regclass AND attnum > 0
			AND atttypid = 'text'::regtype AND attname NOT IN ('type', 'call_type', 'error', 'revert_reason', 'kind', 'key') ORDER BY attnum});
	my @values = split /\n/, run(
		join ";\n",
		map { "SELECT string_agg(v, ' ') FROM (SELECT DISTINCT left($_, 200) AS v FROM heaphex.$table WHERE $_ IS NOT NULL ORDER BY 1 LIMIT 30) v" } @names), -1;
	foreach my $i (0 .. $#names)
	{
		push @columns, [ $names[$i], split / /, $values[$i] ] if ($values[$i] // '') ne '';
	}
	my @queries = map { my $shown = pick(@columns)->[0]; [ "SELECT block_number, transaction_index, $shown FROM SCHEMA.$table WHERE " . where(\@columns), 0 ] } 1 .. 60;
	my @bad = differing('hex', 'heaphex', @queries);
	is(scalar @bad, 0, "hex.$table: " . @queries . ' queries on text agree with the heap copy')
	  or diag join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ];

	my $plans = run(join ";\n", map { "EXPLAIN SELECT * FROM hex.$table WHERE $_->[0] = lower('$_->[-1]') AND $_->[0] LIKE '0x0%'" } @columns);
	my @pushed = $plans =~ /^ *Pushed Filter:/mg;
	is(scalar @pushed, scalar @columns, "hex.$table: conditions on every column");
	unlike($plans, qr/^ *Filter:/m, "hex.$table: are the scan's");
}

# A hash finds its transaction through the hash index, also from a log.
my $hash = run('SELECT hash FROM heaphex.transactions ORDER BY block_number DESC, transaction_index DESC LIMIT 1');
foreach my $query ("SELECT * FROM hex.transactions WHERE hash = '$hash'", "SELECT * FROM hex.logs WHERE transaction_hash = lower('" . uc($hash) . "')")
{
	like(run("EXPLAIN (ANALYZE, TIMING OFF) $query"), qr/Chunks Skipped by Hash Index: [1-9]|Pages Skipped by Page List: [1-9]/, "$query uses the hash index");
}

# Collations, in a database that sorts as no byte order does.
SKIP:
{
	skip 'the server has no ICU collations', 1
	  if run("SELECT count(*) FROM pg_collation WHERE collprovider = 'i' AND collname = 'da-DK-x-icu'") == 0;
	run(q{CREATE DATABASE danish TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'da-DK' LOCALE 'C.UTF-8'});
	$db = 'danish';
	run(q{
		CREATE EXTENSION hotblocks;
		CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
		CREATE COLLATION danish (provider = icu, locale = 'da-DK');
		SELECT hotblocks.create_dataset('da', 'free', make_tables => false);
		CREATE SERVER da FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'da');
		CREATE SCHEMA da;
		CREATE FOREIGN TABLE da.t (d text, n bigint NOT NULL, c text COLLATE "C", i text COLLATE nocase, k text COLLATE danish, b bytea) SERVER da
			OPTIONS (sort_key 'd,n');
		CREATE FOREIGN TABLE da.x (d text, n text NOT NULL, c text COLLATE "C", i text COLLATE nocase, k text COLLATE danish, b text) SERVER da
			OPTIONS (table 't');
		INSERT INTO da.t SELECT w, row_number() OVER (), w, w, w, convert_to(w, 'UTF8')
		FROM unnest('{a,A,aa,AA,Aa,aA,z,Z,zz,å,Å,æ,Æ,ø,ö,ä,ae,b,B,-,"a b","a-b",a_b,0,9,é,e,E,"",ß,ss,SS,0xaa,0xAA,0xzz}'::text[]) w, generate_series(1, 3);
		INSERT INTO da.t VALUES (NULL, 1000, NULL, NULL, NULL, NULL);
		CREATE SCHEMA heap;
		CREATE TABLE heap.t AS TABLE da.t;
		CREATE TABLE heap.x AS TABLE da.x;
		ANALYZE;
	});
	my @words = ('a', 'A', 'aa', 'AA', 'Aa', "\xc3\xa5", 'z', 'Z', 'ae', "\xc3\xa6", 'b', '-', 'a-b', 'a b', '', 'ss', "\xc3\x9f", '0', "e\xcc\x81", "\xc3\xa9", '0xaa', '0xAA', '0xaA', '0x61', '0xc3a5');
	my @queries;
	foreach my $table ('t', 'x')
	{
		my @names = ($table eq 't' ? () : ('b'), 'd', 'c', 'i', 'k');
		foreach my $i (1 .. 120)
		{
			my ($name, $other) = (pick(@names), pick(@names));
			my $collate = pick('', '', '', ' COLLATE "C"', ' COLLATE nocase', ' COLLATE danish', ' COLLATE "default"');
			my ($v, $w) = map { "'$_'" } pick(@words), pick(@words);
			my $op = pick('=', '=', '<>', '<', '<=', '>', '>=');
			my $where = pick(
				"$name$collate $op $v", "$name $op $v$collate", "NOT $name$collate $op $v",
				"$name$collate IN ($v, $w)", "$name$collate NOT IN ($v, $w)", "$name$collate BETWEEN $v AND $w",
				"$name$collate IS DISTINCT FROM $v", "$name$collate = ANY (ARRAY[$v, $w])",
				"lower($name$collate) = $v", "lower($name$collate) $op lower($v)");
			$where = "$name$collate LIKE $v || '%'" if chance(10) == 0 && $name ne 'i' && $collate !~ /nocase/;
			push @queries, pick(
				[ "SELECT * FROM SCHEMA.$table WHERE $where", 0 ],
				[ "SELECT min($name$collate), max($name$collate COLLATE \"C\"), count(*), count(DISTINCT $name$collate) FROM SCHEMA.$table WHERE $where", 0 ],
				[ "SELECT $name, n FROM SCHEMA.$table WHERE $where ORDER BY $name$collate " . pick('', 'DESC', 'NULLS FIRST', 'DESC NULLS LAST') . ', n', 1 ],
				[ "SELECT count(*) FROM SCHEMA.$table a JOIN SCHEMA.$table b ON a.$name$collate = b.$other COLLATE " . ($collate =~ /COLLATE (\S+)/ ? $1 : '"default"') . " WHERE a.n <> b.n", 0 ]);
		}
	}
	# min() of a nondeterministic collation may be any of the equal ones
	@queries = grep { $_->[0] !~ /min\(i|min\(\S+ COLLATE nocase/ } @queries;
	my @bad = differing('da', 'heap', @queries);
	is(scalar @bad, 0, @queries . ' queries on collated text agree with the heap copy')
	  or diag join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ];

	my %plans = (
		"d = 'a'" => 1,
		"d < 'a'" => 0,
		"c < 'a'" => 1,
		"i = 'a'" => 0,
		"i < 'a'" => 0,
		"i COLLATE \"C\" = 'a'" => 1,
		"d COLLATE nocase = 'a'" => 0,
		"k = 'a'" => 1,
		"k > 'a'" => 0,
		"k COLLATE \"C\" > 'a'" => 1,
		"c COLLATE danish > 'a'" => 0);
	my @wheres = sort keys %plans;
	my @explained = split /^Foreign Scan/m, run(join ";\n", map { "EXPLAIN SELECT * FROM da.t WHERE $_" } @wheres);
	foreach my $where (@wheres)
	{
		my $plan = $explained[ 1 + (grep { $wheres[$_] eq $where } 0 .. $#wheres)[0] ];
		is($plan =~ /Pushed Filter/ ? 1 : 0, $plans{$where}, "$where: " . ($plans{$where} ? 'pushed' : 'left to the executor'));
	}
	like(run('EXPLAIN SELECT * FROM da.t ORDER BY d, n'), qr/^(Incremental )?Sort/m, 'the order of bytes is not that of the collation');
	unlike(run('EXPLAIN SELECT * FROM da.x WHERE lower(b) = \'0xaa\''), qr/^ *Filter/m, 'equality of hexadecimal text is pushed');
}

$node->stop;
done_testing();
