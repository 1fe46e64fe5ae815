# Damaged bytes, no memory and no room on disk: an error that says so, and
# nothing lost, wrong or half there.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('faults');
$node->init;
$node->append_conf('postgresql.conf', q(
fsync = off
jit = off
autovacuum = off
max_parallel_workers_per_gather = 0
));
$node->start;

$node->safe_psql('postgres', q(
	CREATE EXTENSION hotblocks;
	SELECT hotblocks.create_dataset('mine', 'free');
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, i integer, h bytea, a bytea, v numeric, s text, j jsonb, k int[], b bytea[])
		SERVER mine OPTIONS (block_column 'n', sort_key 'n,i');
	INSERT INTO mine.t SELECT g / 10, g % 10, sha256(int8send(g)), substr(sha256(int8send(g % 50)), 1, 20),
			g * 12345678901234567890::numeric, nullif(md5(g::text), md5('7')), jsonb_build_object('g', g, 'x', '[1,2]'),
			ARRAY[g, g + 1], ARRAY[int8send(g), NULL]
		FROM generate_series(1, 5000) g;
	-- and a chunk that is in its row
	INSERT INTO mine.t SELECT 1000 + g, g, int4send(g) FROM generate_series(1, 3) g));

my $read = q(SELECT md5(string_agg(t::text, ';' ORDER BY n, i)) FROM mine.t t);
my $lookup = q(SELECT count(*), sum(v), min(s) FROM mine.t
	WHERE a = (SELECT substr(sha256(int8send(7)), 1, 20)) AND n BETWEEN 100 AND 300);
my $before = $node->safe_psql('postgres', "$read; $lookup");
my $psql_log = '';

# A session's output and errors; what it must not have is looked for at the end.
sub session
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', "\\set VERBOSITY verbose\n$sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	$psql_log .= $err;
	return ($out, $err);
}

#
# Damage: bytes anywhere, one or several, by hand
#
my %places = (
	'mine directory' => [ 'chunk', 'directory', 'directory IS NOT NULL' ],
	'mine body' => [ 'chunk', 'body', 'body IS NOT NULL' ],
	'mine piece' => [ 'piece_hot', 'data', 'true' ]);
my $seed = $ENV{FAULTS_SEED} // 1;
my $rounds = $ENV{FAULTS_ROUNDS} // 40;
srand($seed);
my @wrong;
my $noticed = 0;
for my $place (sort keys %places)
{
	my ($table, $column, $where) = @{ $places{$place} };
	my $script = '';
	my @values = map {
		my ($at, $byte) = (rand, int(rand(256)));
		"set_byte($column, floor($at * length($column))::int, $byte)"
	} 1 .. $rounds;

	# cut short, empty, and bytes of something else
	push @values, "substr($column, 1, length($column) / 2)", "'\\x'", "sha256($column)",
	  "$column || '\\x00'";
	# all within a transaction that is rolled back; a reader before the damage
	# has filled the caches
	for my $value (@values)
	{
		$script .= qq(
			BEGIN;
			UPDATE hotblocks_mine.$table SET $column = $value WHERE $where;
			SAVEPOINT s;
			$read;
			ROLLBACK TO s;
			$lookup;
			ROLLBACK;
			SELECT '--';
		);
	}
	my ($out, $err) = session($script);
	my ($right_read, $right_lookup) = split /\n/, $before;
	for my $round (split /^--\n?/m, $out)
	{
		push @wrong, "$place: $_" for grep { $_ ne $right_read && $_ ne $right_lookup } split /\n/, $round;
	}
	my @errors = $err =~ /ERROR:  (\w{5}): [^\n]*/g;
	$noticed += @errors;
	# 0A000: a format version to come
	push @wrong, "$place: SQLSTATE $_" for grep { $_ ne 'XX001' && $_ ne '0A000' } @errors;
	push @wrong, "$place: $_" for grep { !/dataset "mine"/ } $err =~ /(ERROR:  XX001:.*?LOCATION)/gs;
}
is(join("\n", @wrong), '', "damaged bytes are an error that names the place, or are not read (seed $seed)");
cmp_ok($noticed, '>', $rounds, 'most of them are noticed');
is($node->safe_psql('postgres', "$read; $lookup"), $before, 'and the rest is as it was');

#
# No memory: the backend's address space ends a little above what it has
#
SKIP:
{
	skip 'prlimit is not installed', 7 if system('prlimit --version >/dev/null 2>&1') != 0;
	my @phases = (
		$read, $lookup,
		q(SELECT count(*) FROM (SELECT * FROM mine.t ORDER BY n DESC, i DESC OFFSET 0) o),
		q(INSERT INTO mine.t SELECT g, g, sha256(int8send(g)), NULL, NULL, repeat(md5(g::text), 30) FROM generate_series(1, 60000) g),
		q(INSERT INTO mine.t (n, s) SELECT 1, repeat('x', 30000000)),
		q(ANALYZE mine.t),
		q(TRUNCATE mine.t),
		q(SELECT count(*) FROM hotblocks.chunk_columns('mine', 't')),
		q(SELECT hotblocks.create_dataset('another', 'evm')));
	my $out_of_memory = 0;
	my $after = '';

	for my $room (1, 4, 9, 20)
	{
		my $bytes = $room * 1024 * 1024;
		my $script = <<"EOF";
SELECT pg_backend_pid() AS pid \\gset
\\setenv BACKEND :pid
\\! prlimit --pid \$BACKEND --as=\$((\$(sed -n 's/VmSize:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/\$BACKEND/status) * 1024 + $bytes)):
EOF

		$script .= "BEGIN;\n$_;\nROLLBACK;\n" for @phases;
		$script .= "\\! prlimit --pid \$BACKEND --as=unlimited:\nSELECT 'still here';\n$read; $lookup;\n";
		my ($out, $err) = session($script);
		my @errors = $err =~ /ERROR:  (\w{5}): [^\n]*/g;

		$out_of_memory += grep { $_ eq '53200' } @errors;
		# 58P01: core could not map a library, such as plpgsql
		$after .= "$room MB: $_\n" for grep { $_ ne '53200' && $_ ne '58P01' } @errors;
		$after .= "$room MB: the session is not as before\n" if $out !~ /still here\n\Q$before\E\z/;
	}
	is($after, '', 'without memory, statements end with that error, and the session goes on');
	cmp_ok($out_of_memory, '>', 5, 'memory was short in many of them');
	is($node->safe_psql('postgres', "$read; $lookup"), $before, 'and nothing has changed');

	#
	# No room: files end at 20 MB, which is more than a segment of the log
	#
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];

	system("prlimit --pid $pid --fsize=20971520:");
	my ($out, $err) = session(q(
		SET hotblocks.chunk_rows = 5000;
		INSERT INTO mine.t (n, s) SELECT 1, (SELECT string_agg(md5((g * i)::text), '') FROM generate_series(1, 100) i)
			FROM generate_series(1, 20000) g;
		BEGIN;
		INSERT INTO mine.t (n) VALUES (-1);
		SAVEPOINT s;
		INSERT INTO mine.t (n, s) SELECT 1, (SELECT string_agg(md5((g * i)::text), '') FROM generate_series(1, 100) i)
			FROM generate_series(1, 20000) g;
		ROLLBACK TO s;
		SELECT n FROM mine.t WHERE n < 0;
		ROLLBACK;
	));
	is(scalar(() = $err =~ /ERROR:  \w{5}: could not extend file/g), 2, 'without room, a load ends with an error');
	is($out, '-1', 'and a savepoint before it is there');
	is($node->safe_psql('postgres', "$read; $lookup"), $before, 'nothing of it is there');
	system("prlimit --pid $pid --fsize=unlimited:");
	$node->safe_psql('postgres', q(
		INSERT INTO mine.t (n, s) SELECT 5000, (SELECT string_agg(md5((g * i)::text), '') FROM generate_series(1, 100) i)
			FROM generate_series(1, 20000) g;
		VACUUM hotblocks_mine.piece_hot));
	is($node->safe_psql('postgres', q(SELECT count(*), count(DISTINCT s) FROM mine.t WHERE n = 5000)), '20000|20000',
		'with room again, work goes on');
}

unlike($psql_log, qr/server closed the connection|FATAL|PANIC/, 'no session was lost');
unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal|leak:|not closed/, 'the log knows of no crash and no leak');
$node->stop;
done_testing();
