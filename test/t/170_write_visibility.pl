# Statements that write a hotblocks table see what they would see of a heap.
#
# Random scripts are run twice, against a heap table and a hotblocks table with
# the same columns: inserts of one row and of many, from SELECT, in WITH, COPY,
# savepoints and cursors, calls of functions that read the table, insert into
# it, fail, and catch that, nested in each other at any depth, in every place
# that an INSERT has for them, and triggers that do the same.  Everything that
# a function or a query reads goes into a log.  The log, the table's rows and
# the errors must be the same.
#
# Small chunks make the writer store rows in the middle of statements.
#
# WRITE_SEED and WRITE_SCRIPTS change what is run; what scripts that differ have
# printed is left in the folder WRITE_DUMP.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $first_seed = $ENV{WRITE_SEED} // 1;
my $scripts = $ENV{WRITE_SCRIPTS} // 10;

my $node = HotblocksCluster->new('write');
$node->init;
$node->append_conf('postgresql.conf',
	"fsync = off\njit = off\nlog_statement = none\nmax_parallel_workers = 2\n");
$node->start;

my $state;

sub chance
{
	my ($n) = @_;

	$state = ($state * 1103515245 + 12345) & 0x7fffffff;
	return int($state / 65536) % $n;
}

sub pick { return $_[ chance(scalar @_) ]; }

$node->safe_psql('postgres', q{
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('w', 'free');
	CREATE SCHEMA heap;

	-- What was read, in order.  It is written through a sequence and survives
	-- rollbacks only where the script's transaction does, for both alike.
	CREATE TABLE log (schema text, id serial, place text, what text);

	CREATE FUNCTION state_of(OUT what text) LANGUAGE plpgsql VOLATILE AS $$
	BEGIN
		EXECUTE 'SELECT format(''%s %s %s %s'', count(*), min(n), max(n), sum(i)) FROM t' INTO what;
	END $$;

	-- the same with the caller's snapshot
	CREATE FUNCTION stable_state() RETURNS text LANGUAGE plpgsql STABLE AS $$
	BEGIN
		RETURN (SELECT format('%s %s %s %s', count(*), min(n), max(n), sum(i)) FROM t);
	END $$;

	CREATE FUNCTION note(place text, what text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO log (schema, place, what)
		VALUES ((current_schemas(false))[1], place, what);
	END $$;

	-- Does something at this depth, and perhaps more below; a is drawn from
	-- the row so that both tables go the same way.
	CREATE FUNCTION act(n bigint, a int, depth int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
	DECLARE
		k int := (n * 7 + a * 13 + depth * 5) % 14;
		c refcursor;
		r record;
		got text;
	BEGIN
		PERFORM note('act ' || depth || ' ' || k, state_of());
		IF depth > 3 THEN
			RETURN a;
		END IF;
		CASE k
		WHEN 0 THEN
			INSERT INTO t VALUES (n + 1000, a, 'nested');
		WHEN 1 THEN
			BEGIN
				INSERT INTO t VALUES (n + 2000, a, 'caught');
				PERFORM note('before raise', state_of());
				RAISE EXCEPTION 'caught';
			EXCEPTION WHEN raise_exception THEN
				PERFORM note('after raise', state_of());
			END;
		WHEN 2 THEN
			BEGIN
				INSERT INTO t SELECT g, act(g, a, depth + 1), repeat('r', a % 5)
				FROM generate_series(n + 3000, n + 3000 + a % 4) g;
			EXCEPTION WHEN division_by_zero THEN
				PERFORM note('divided', state_of());
			END;
		WHEN 3 THEN
			BEGIN
				INSERT INTO t SELECT g, 1 / (4 - (g - n)::int), 'div' FROM generate_series(n, n + 5) g;
			EXCEPTION WHEN division_by_zero THEN
				PERFORM note('all gone', state_of());
			END;
		WHEN 4 THEN
			OPEN c NO SCROLL FOR SELECT t.n FROM t ORDER BY t.n, i;
			FETCH c INTO r;
			PERFORM note('cursor', r::text);
			CLOSE c;
		WHEN 5 THEN
			PERFORM act(n + 1, a + 1, depth + 1);
		WHEN 6 THEN
			BEGIN
				PERFORM act(n + 2, a + 2, depth + 1);
				PERFORM note('block', state_of());
			EXCEPTION WHEN OTHERS THEN
				PERFORM note('other', SQLERRM);
			END;
		WHEN 7 THEN
			WITH x AS (INSERT INTO t VALUES (n + 4000, a, 'with'), (n + 4001, a, NULL) RETURNING t.n)
			SELECT string_agg(x.n::text || ' ' || (SELECT count(*) FROM t), ',' ORDER BY x.n)
			INTO got FROM x;
			PERFORM note('with', got);
		WHEN 8 THEN
			PERFORM note('stable', stable_state());
		WHEN 9 THEN
			INSERT INTO t SELECT t.n + 10000, t.i, 'copy' FROM t WHERE t.n < 20 AND t.i % 3 = 0
				ORDER BY t.n, t.i, t.x;
		WHEN 10 THEN
			PERFORM note('aggregate', (SELECT string_agg(format('%s:%s', b, m), ' ' ORDER BY b)
				FROM (SELECT t.n / 50 AS b, max(x) AS m FROM t GROUP BY 1) s));
		ELSE
			NULL;
		END CASE;
		IF a % 97 = 96 THEN
			RAISE EXCEPTION 'row % fails', n;
		END IF;
		RETURN a;
	END $$;

	CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM note(TG_WHEN || ' ' || TG_LEVEL, state_of());
		IF TG_LEVEL = 'ROW' THEN
			IF TG_WHEN = 'BEFORE' AND NEW.n % 11 = 10 THEN
				RETURN NULL;
			END IF;
			IF TG_WHEN = 'BEFORE' AND NEW.n % 11 = 9 THEN
				NEW.x := 'changed';
			END IF;
			IF TG_WHEN = 'AFTER' AND pg_trigger_depth() < 3 THEN
				PERFORM act(NEW.n, coalesce(NEW.i, 0), 2);
			END IF;
			RETURN NEW;
		END IF;
		RETURN NULL;
	END $$;
});

my $columns = 'n bigint NOT NULL, i int, x text, CONSTRAINT small CHECK (i IS NULL OR i < 500)';
$node->safe_psql('postgres', qq{
	CREATE TABLE heap.t ($columns);
	CREATE TABLE heap.p ($columns) PARTITION BY RANGE (n);
	CREATE TABLE heap.p1 PARTITION OF heap.p FOR VALUES FROM (MINVALUE) TO (2000);
	CREATE TABLE heap.p2 PARTITION OF heap.p FOR VALUES FROM (2000) TO (MAXVALUE);
	CREATE FOREIGN TABLE w.t ($columns) SERVER w OPTIONS (block_column 'n', sort_key 'n,i');
	CREATE TABLE w.p ($columns) PARTITION BY RANGE (n);
	CREATE FOREIGN TABLE w.p1 PARTITION OF w.p FOR VALUES FROM (MINVALUE) TO (2000)
		SERVER w OPTIONS (block_column 'n');
	CREATE FOREIGN TABLE w.p2 PARTITION OF w.p FOR VALUES FROM (2000) TO (MAXVALUE)
		SERVER w OPTIONS (block_column 'n', sort_key 'n,x');
});

#
# Scripts
#
my @triggers = (
	'BEFORE INSERT ON t FOR EACH ROW',
	'AFTER INSERT ON t FOR EACH ROW',
	'BEFORE INSERT ON t FOR EACH STATEMENT',
	'AFTER INSERT ON t FOR EACH STATEMENT');

sub copy_rows
{
	my $rows = '';

	for (1 .. 1 + chance(20))
	{
		my $i = chance(40) == 0 ? 600 : chance(100);
		my $n = chance(60) == 0 ? '\N' : chance(300);

		$rows .= "$n\t" . (chance(8) ? $i : '\N') . "\t" . pick('a', 'bb', '\N') . "\n";
	}
	return "$rows\\.\n";
}

# A value for column i: a plain one, one that acts, one that cannot be.
sub value_of
{
	my ($n) = @_;

	return pick(
		chance(100), chance(100), 'NULL',
		"act($n, ${\chance(100)}, ${\chance(4)})",
		"act($n, ${\chance(100)}, ${\chance(4)})",
		"length(state_of())", "length(stable_state())",
		chance(10) ? 7 : 1000);
}

sub statement
{
	my $kind = chance(20);
	my $n = chance(300);
	my $count = pick(0, 1, 2, 5, 17, 40);

	if ($kind < 5)
	{
		return 'INSERT INTO t VALUES '
		  . join(', ', map { my $m = $n + $_; "($m, " . value_of($m) . ", 'v')" } 0 .. chance(4))
		  . pick('', '', ' ON CONFLICT DO NOTHING') . ";\n";
	}
	if ($kind < 9)
	{
		return "INSERT INTO t SELECT g, " . value_of('g')
		  . ", repeat('s', (g % 7)::int) FROM generate_series($n, $n + $count) g;\n";
	}
	return "INSERT INTO t SELECT n + 500, i, x FROM t WHERE n < $n ORDER BY n, i, x;\n" if $kind == 9;
	if ($kind == 10)
	{
		return "INSERT INTO t (n, i) VALUES ($n, " . value_of($n) . "), ("
		  . ($n + 1) . ", 5) RETURNING n, i, act(n, coalesce(i, 0), 1), state_of(), stable_state(), t;\n";
	}
	if ($kind == 11)
	{
		return "WITH a AS (INSERT INTO t SELECT g, " . value_of('g')
		  . ", 'a' FROM generate_series($n, $n + $count) g RETURNING n),\n"
		  . "b AS (INSERT INTO t SELECT n + 700, " . value_of('n') . ", 'b' FROM a RETURNING n)\n"
		  . "SELECT (SELECT count(*) FROM a), (SELECT sum(n) FROM b), (SELECT count(*) FROM t), stable_state();\n";
	}
	return "COPY t FROM stdin" . pick('', " WHERE i IS NULL OR i % 2 = 0") . ";\n" . copy_rows()
	  if $kind == 12;
	if ($kind == 13)
	{
		return "COPY t FROM stdin WHERE act(n, coalesce(i, 0), ${\chance(4)}) >= 0;\n" . copy_rows();
	}
	return "SELECT count(*), sum(n), sum(i), max(x), state_of() FROM t WHERE n % 3 = ${\chance(3)};\n"
	  if $kind == 14;
	return "SELECT act($n, ${\chance(97)}, ${\chance(3)}), state_of(), stable_state();\n" if $kind == 15;
	if ($kind == 16)
	{
		return "INSERT INTO p SELECT g, " . value_of('g')
		  . ", 'p' FROM generate_series(1990, 1990 + $count) g WHERE note('p', (SELECT count(*)::text FROM p)) IS NOT NULL;\n"
		  . "COPY p FROM stdin WHERE act(n, i, 2) >= 0;\n1999\t1\ta\n2000\t2\tb\n2001\t3\tc\n1998\t4\td\n\\.\n"
		  . "SELECT count(*), sum(n) FROM p;\n";
	}
	if ($kind == 17)
	{
		return "DO \$\$ BEGIN INSERT INTO t SELECT g, " . value_of('g')
		  . ", 'do' FROM generate_series($n, $n + $count) g; PERFORM note('do', state_of());\n"
		  . pick('', "RAISE EXCEPTION 'done';", "PERFORM 1 / (SELECT count(*) - count(*) FROM t);")
		  . "\nEXCEPTION WHEN OTHERS THEN PERFORM note('do failed', SQLERRM || state_of()); END \$\$;\n";
	}
	return "EXECUTE one($n, ${\chance(97)});\n" if $kind == 18;
	return "TRUNCATE t;\n" if chance(3) == 0;
	return "SELECT n, i, x FROM t ORDER BY n DESC, i DESC, x DESC LIMIT 5;\n";
}

sub script
{
	my ($seed) = @_;
	my $text = '';
	my @savepoints;
	my $open = 0;

	$state = $seed * 7919 + 17;
	chance(2) for 1 .. 5;
	$text .= "SET hotblocks.chunk_rows = ${\pick(1, 3, 10, 200000)};\n" if chance(2);
	$text .= "SET hotblocks.build_memory = '${\pick('64kB', '64MB')}';\n" if chance(2);
	if (chance(10) == 0)
	{
		my $setting = $node->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query';

		$text .= "SET $setting = on;\nSET parallel_setup_cost = 0;\nSET parallel_tuple_cost = 0;\nSET min_parallel_table_scan_size = 0;\n";
	}
	$text .= "PREPARE one AS INSERT INTO t VALUES (\$1, act(\$1, \$2, 2), 'prepared');\n";
	for (my $i = 0; $i < @triggers; $i++)
	{
		$text .= "CREATE TRIGGER tr$i $triggers[$i] EXECUTE FUNCTION trg();\n" if chance(4) == 0;
	}
	for (1 .. 8 + chance(8))
	{
		my $what = chance(12);

		if (!$open && $what < 4)
		{
			$text .= 'BEGIN' . pick('', '', ' ISOLATION LEVEL REPEATABLE READ',
				' ISOLATION LEVEL SERIALIZABLE') . ";\n";
			$open = 1;
		}
		elsif ($open && $what < 3)
		{
			push @savepoints, "s" . chance(1000);
			$text .= "SAVEPOINT $savepoints[-1];\n";
		}
		elsif ($open && $what < 5 && @savepoints)
		{
			my $name = splice(@savepoints, chance(scalar @savepoints));

			$text .= pick('ROLLBACK TO', 'RELEASE') . " $name;\n";
		}
		elsif ($open && $what == 5)
		{
			$text .= "DECLARE c$_ SCROLL CURSOR FOR SELECT n, i FROM t ORDER BY n, i, x;\n";
			$text .= statement();
			$text .= "FETCH 3 FROM c$_;\nFETCH LAST FROM c$_;\n";
		}
		elsif ($open && $what == 6)
		{
			$text .= pick('COMMIT', 'COMMIT', 'ROLLBACK') . ";\n";
			$open = 0;
			@savepoints = ();
		}
		$text .= statement();
	}
	$text .= "COMMIT;\n" if $open;
	$text .= "SELECT n, i, x FROM t ORDER BY n, i, x;\n";
	$text .= "SELECT n, i, x FROM p ORDER BY n, i, x;\n";
	return $text;
}

# What a script prints, and what it wrote to the log.
sub run_script
{
	my ($schema, $text) = @_;
	my ($out, $err);
	my $clean = "SET search_path = $schema, public;\nTRUNCATE t; TRUNCATE p;\nTRUNCATE log;\n"
	  . join('', map { "DROP TRIGGER IF EXISTS tr$_ ON t;\n" } 0 .. $#triggers);

	$node->psql('postgres',
		"SET client_min_messages = error;\n${clean}$text\nSELECT place, what FROM log ORDER BY id;\n",
		stdout => \$out, stderr => \$err, on_error_stop => 0);
	$err =~ s/^psql:<stdin>:\d+: //mg;
	$err =~ s/ of relation "[^"]*"//g;
	$err =~ s/new row for relation "[^"]*"/new row/g;
	# a heap's row says more
	$err =~ s/^(?:DETAIL|CONTEXT|HINT|LINE|STATEMENT|SQL|PL|COPY|\s).*\n?//mg;
	return ($out, $err);
}

for my $seed ($first_seed .. $first_seed + $scripts - 1)
{
	my $text = script($seed);
	my @heap = run_script('heap', $text);
	my @hot = run_script('w', $text);

	next if $heap[0] eq $hot[0] && $heap[1] eq $hot[1];
	if ($ENV{WRITE_DUMP})
	{
		for ([ heap => \@heap ], [ hotblocks => \@hot ])
		{
			append_to_file("$ENV{WRITE_DUMP}/$seed.$_->[0]", join("\n", @{ $_->[1] }));
		}
	}
	fail("script of seed $seed");
	diag($text);
	for my $i (0, 1)
	{
		my @a = split /\n/, $heap[$i];
		my @b = split /\n/, $hot[$i];
		my $line = 0;

		next if $heap[$i] eq $hot[$i];
		$line++ while $line < @a && $line < @b && $a[$line] eq $b[$line];
		diag(($i ? 'errors' : 'output') . " differ at line $line");
		diag('heap: ' . ($_ < @a ? $a[$_] : '(end)')) for ($line > 2 ? $line - 2 : 0) .. $line + 2;
		diag('hotblocks: ' . ($_ < @b ? $b[$_] : '(end)')) for ($line > 2 ? $line - 2 : 0) .. $line + 2;
	}
	last if ++$main::different == 3;
}
ok(!$main::different, "$scripts scripts from seed $first_seed: no difference");

# Workers could not see rows that a statement has not stored: no query may have
# them while there are such rows, and all may afterwards.
is( $node->safe_psql('postgres', qq{
	SET search_path = w, public;
	SET client_min_messages = error;
	TRUNCATE t;
	SET ${\($node->pg_version < 16 ? 'force_parallel_mode' : 'debug_parallel_query')} = on;
	CREATE FUNCTION counted(g bigint) RETURNS int LANGUAGE plpgsql AS \$\$
	DECLARE
		counted int;
		line text;
		workers text := '';
	BEGIN
		FOR line IN EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT count(*) FROM t LOOP
			IF line LIKE '%Workers%' THEN
				workers := workers || trim(line) || ' ';
			END IF;
		END LOOP;
		EXECUTE 'SELECT count(*) FROM t' INTO counted;
		PERFORM note('counted', counted || ' ' || workers);
		RETURN counted;
	END \$\$;
	INSERT INTO t SELECT g, counted(g) FROM generate_series(1, 2) g;
	SELECT count(*), sum(i), counted(0) FROM t;
	SELECT what FROM log WHERE place = 'counted' ORDER BY id}),
	"2|1|2\n0 Workers Planned: 1 Workers Launched: 1 \n1 Workers Planned: 1 Workers Launched: 0 \n2 Workers Planned: 1 Workers Launched: 1 ",
	'no workers while rows are in memory');

$node->stop;
done_testing();
