# What DDL does to datasets: pieces of dumps, quoted names, renames, moves
# between tablespaces, rewrites under sessions that remember chunks, and the
# ways in which datasets, schemas, servers, databases and the extension go.
use strict;
use warnings;
use HotblocksCluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('ddl');
$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nmax_prepared_transactions = 2\n");
$node->start;

my $dir = PostgreSQL::Test::Utils::tempdir;

# The rows of a table and what is said when a statement fails.
sub rows
{
	my ($db, $sql) = @_;

	return $node->safe_psql($db, $sql);
}

sub fails_like
{
	my ($db, $sql, $pattern, $name) = @_;
	my ($out, $err) = ('', '');
	my $rc = $node->psql($db, "\\set VERBOSITY verbose\n$sql", stdout => \$out, stderr => \$err, on_error_stop => 1);

	isnt($rc, 0, "$name: fails");
	like($err, $pattern, $name);
	return;
}

# A dataset with n incompressible rows, so that its bodies are in pieces.
sub fill
{
	my ($name, $rows) = @_;

	return qq(
		SELECT hotblocks.create_dataset('$name', 'free');
		CREATE FOREIGN TABLE $name.t (n bigint NOT NULL, h bytea, s text)
			SERVER $name OPTIONS (block_column 'n', sort_key 'n');
		INSERT INTO $name.t SELECT g, sha256(g::text::bytea), 's' || g FROM generate_series(1, $rows) g;
	);
}

sub digest_sql
{
	my ($table) = @_;

	return "SELECT count(*), md5(string_agg(x::text, ';' ORDER BY n)) FROM $table x";
}

rows('postgres', 'CREATE ROLE keeper LOGIN; CREATE DATABASE source OWNER keeper');
rows('source', q(
	CREATE EXTENSION hotblocks;
	GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO keeper;
	SET SESSION AUTHORIZATION keeper;) . fill('mine', 20000) . q(
	CREATE SCHEMA "Odd ""schema""";
	CREATE SERVER "Odd 'server'" FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'mine');
	CREATE FOREIGN TABLE "Odd ""schema"""."Odd.table"
		("block N" bigint OPTIONS (column 'n') NOT NULL, "Hash ""h""" bytea OPTIONS (column 'h'), "sélect" text OPTIONS (column 's'))
		SERVER "Odd 'server'" OPTIONS ("table" 't');
	CREATE FOREIGN TABLE "Odd ""schema"""."Own t" ("Select" bigint NOT NULL, "a""b'c" text)
		SERVER "Odd 'server'" OPTIONS (block_column 'Select', sort_key '"Select"');
	INSERT INTO "Odd ""schema"""."Own t" VALUES (1, 'x'), (2, NULL);
));

my $options = q(
	SELECT s.srvname, s.srvoptions FROM pg_foreign_server s ORDER BY 1;
	SELECT f.ftrelid::regclass, f.ftoptions FROM pg_foreign_table f ORDER BY ftrelid::regclass::text COLLATE "C";
	SELECT a.attrelid::regclass, a.attname, a.attfdwoptions, a.attnotnull FROM pg_attribute a
		JOIN pg_foreign_table ON ftrelid = attrelid WHERE attnum > 0 ORDER BY a.attrelid::regclass::text COLLATE "C", attnum;);
my $contents = digest_sql('mine.t') . ';' . q(SELECT md5(string_agg(x::text, ';' ORDER BY "block N")) FROM "Odd ""schema"""."Odd.table" x;
	SELECT * FROM "Odd ""schema"""."Own t" ORDER BY 1);
my $before = rows('source', $options . $contents);

# Restores into a database whose superuser has made the extension.
sub restore_target
{
	my ($db) = @_;

	rows('postgres', "CREATE DATABASE $db OWNER keeper");
	rows($db, 'CREATE EXTENSION hotblocks; GRANT USAGE ON FOREIGN DATA WRAPPER hotblocks TO keeper');
	return;
}

sub as_keeper
{
	my ($db) = @_;

	return $node->connstr($db) . ' user=keeper';
}
# The contents of a dump without what is a superuser's, and there already.
sub write_list
{
	my ($dump, $list) = @_;
	my ($out, $err) = run_command([ 'pg_restore', '-l', $dump ]);

	append_to_file($list, join("\n", grep { !/ EXTENSION - | ACL - FOREIGN DATA WRAPPER / } split /\n/, $out) . "\n");
	return;
}

my @from = ('-d', $node->connstr('source'));

# custom format, and the owner restores it in parallel
command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom", @from ], 'pg_dump -Fc');
restore_target('custom');
write_list("$dir/custom", "$dir/list");
command_ok([ 'pg_restore', '-j4', '-L', "$dir/list", '-d', as_keeper('custom'), "$dir/custom" ], 'the owner restores it with -j4');
is(rows('custom', $options . $contents), $before, 'with names and options');

# a directory, in parallel
command_ok([ 'pg_dump', '-Fd', '-j4', '-f', "$dir/folder", @from ], 'pg_dump -Fd -j4');
rows('postgres', 'CREATE DATABASE folder');
command_ok([ 'pg_restore', '-j4', '-d', $node->connstr('folder'), "$dir/folder" ], 'pg_restore -j4');
is(rows('folder', $options . $contents), $before, 'gives the same');

# section by section
rows('postgres', 'CREATE DATABASE sections');
foreach my $section ('pre-data', 'data', 'post-data')
{
	command_ok([ 'pg_dump', "--section=$section", '-f', "$dir/$section.sql", @from ], "pg_dump --section=$section");
	my ($out, $err) = ('', '');
	$node->psql('sections', "\\i $dir/$section.sql", stdout => \$out, stderr => \$err, on_error_stop => 0);
	is(join("\n", grep { /ERROR/ } split /\n/, $err), '', "section $section restores");
}
is(rows('sections', $options . $contents), $before, 'sections make the whole');

# into a database that has the dataset
my ($sout, $serr) = run_command([ 'pg_restore', '-d', $node->connstr('folder'), '--exit-on-error', '--single-transaction', "$dir/custom" ]);
like($serr, qr/already exists/, 'a restore over the dataset is refused');
is(rows('folder', $options . $contents), $before, 'and changes nothing');
($sout, $serr) = run_command([ 'pg_restore', '-d', $node->connstr('folder'), '--data-only', "$dir/custom" ]);
like($serr, qr/duplicate key value violates unique constraint/, 'so are its data');
is(rows('folder', $options . $contents), $before, 'and they change nothing');

# only the dataset's schemas: the row that makes a dataset of them comes with
# the extension
command_ok([ 'pg_dump', '-n', 'mine', '-n', 'hotblocks_mine', '-f', "$dir/schemas.sql", @from ], 'pg_dump -n');
restore_target('schemas');
rows('schemas', "SET SESSION AUTHORIZATION keeper; CREATE SERVER mine FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'mine');");
rows('schemas', "SET SESSION AUTHORIZATION keeper;\n\\i $dir/schemas.sql\n");
fails_like('schemas', digest_sql('mine.t'), qr/dataset "mine" does not exist/, 'schemas alone are no dataset');
rows('schemas', q(SET SESSION AUTHORIZATION keeper;
	INSERT INTO hotblocks.dataset (name, kind, linkage, head_table, chunk_table, piece_hot_table, column_table,
		coverage_table, gap_table, transition_table, feed_table)
	VALUES ('mine', 'free', 'strict', 'hotblocks_mine.head', 'hotblocks_mine.chunk', 'hotblocks_mine.piece_hot',
		'hotblocks_mine.stored_column', 'hotblocks_mine.coverage', 'hotblocks_mine.gap', 'hotblocks_mine.transition',
		'hotblocks_mine.feed')));
is(rows('schemas', digest_sql('mine.t')), rows('source', digest_sql('mine.t')), 'its owner makes one of them');

# Renames.  Plans that were made before follow.
my $whole = rows('folder', digest_sql('mine.t'));
is(rows('folder', q(
	SET plan_cache_mode = force_generic_plan;
	PREPARE q AS SELECT count(*) FROM mine.t WHERE n > $1;
	EXECUTE q(10);
	ALTER SERVER mine RENAME TO served;
	EXECUTE q(10);
	ALTER SCHEMA hotblocks_mine RENAME TO elsewhere;
	ALTER TABLE elsewhere.chunk RENAME TO chunky;
	ALTER TABLE elsewhere.piece_hot RENAME TO piecy;
	ALTER TABLE elsewhere.head RENAME TO heady;
	ALTER TABLE elsewhere.stored_column RENAME TO columny;
	EXECUTE q(10);
	INSERT INTO mine.t VALUES (20001, NULL, 'renamed');
	EXECUTE q(10);
	SELECT name, rows FROM hotblocks.datasets;
	ALTER FOREIGN TABLE mine.t OPTIONS (ADD "table" 't');
	ALTER FOREIGN TABLE mine.t RENAME TO u;
	ALTER SCHEMA mine RENAME TO yours;
	SELECT count(*) FROM yours.u;
	ALTER SERVER served RENAME TO mine)),
	"19990\n19990\n19990\n19991\nmine|20003\n20001", 'what is renamed goes on working');
fails_like('folder', 'BEGIN; ALTER FOREIGN TABLE yours.u RENAME n TO nn; SELECT count(*) FROM yours.u',
	qr/column "nn" of foreign table "u" does not match a stored column/, 'a renamed column asks for its option');
rows('postgres', 'ALTER DATABASE folder RENAME TO renamed; ALTER ROLE keeper RENAME TO warden');
is(rows('renamed', 'SELECT count(*) FROM yours.u; SELECT owner FROM hotblocks.datasets'), "20001\nwarden", 'so with database and role');
rows('renamed', q(SELECT hotblocks.drop_dataset('mine')));
is(rows('renamed', q(SELECT count(*) FROM pg_namespace WHERE nspname = 'elsewhere' OR nspname LIKE 'hotblocks\_%')), '0',
	'drop_dataset finds the tables under their new names');

# A session reads the right rows while another one rewrites what it remembers.
mkdir "$dir/space" or die $!;
rows('postgres', "CREATE TABLESPACE elsewhere LOCATION '$dir/space'");
my $look = digest_sql('mine.t');
my $session = $node->background_psql('custom');
is($session->query($look), $whole, 'a session remembers');
foreach my $rewrite (
	'VACUUM FULL hotblocks_mine.piece_hot', 'VACUUM FULL hotblocks_mine.chunk',
	'CLUSTER hotblocks_mine.piece_hot USING piece_hot_pkey', 'REINDEX SCHEMA hotblocks_mine',
	'ALTER TABLE hotblocks_mine.piece_hot SET TABLESPACE elsewhere', 'ALTER TABLE hotblocks_mine.chunk SET TABLESPACE elsewhere',
	'VACUUM FULL hotblocks_mine.stored_column', 'VACUUM FULL hotblocks_mine.head', 'VACUUM FULL hotblocks.dataset',
	q(UPDATE hotblocks_mine.piece_hot SET data = data || ''), 'VACUUM FULL hotblocks_mine.piece_hot',
	'REINDEX TABLE CONCURRENTLY hotblocks_mine.piece_hot')
{
	rows('custom', $rewrite);
	is($session->query($look), $whole, "and reads the same after $rewrite");
}
$session->quit;
like(rows('custom', 'SELECT count(*) > 0 FROM hotblocks_mine.piece_hot'), qr/^t$/, 'which had pieces to remember');

# default_tablespace
rows('postgres', 'CREATE DATABASE spaces');
is(rows('spaces', 'CREATE EXTENSION hotblocks; SET default_tablespace = elsewhere;' . fill('mine', 100) . q(
	SELECT DISTINCT spcname FROM pg_class c LEFT JOIN pg_tablespace s ON s.oid = reltablespace
	WHERE relnamespace = 'hotblocks_mine'::regnamespace AND relkind IN ('r', 'i');
	SELECT count(*) FROM mine.t)) =~ s/^\n+//r, "elsewhere\n100", 'a dataset goes to default_tablespace');

# Drop and create again, in one session and in one transaction; another server
# and schema over the same dataset follow.
is(rows('spaces', q(
	SET plan_cache_mode = force_generic_plan;
	CREATE SERVER two FOREIGN DATA WRAPPER hotblocks OPTIONS (dataset 'mine');
	CREATE FOREIGN TABLE public.t (s text, n bigint) SERVER two;
	PREPARE q AS SELECT count(*) || max(s) FROM mine.t WHERE n > $1;
	PREPARE p AS SELECT count(*) || max(s) FROM public.t WHERE n > $1;
	EXECUTE q(10); EXECUTE p(10);
	BEGIN;
	INSERT INTO public.t VALUES ('z', 101);
	EXECUTE q(10); EXECUTE p(10);
	DO $$ BEGIN PERFORM hotblocks.drop_dataset('mine'), hotblocks.create_dataset('mine', 'free'); END $$;
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, s text) SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	EXECUTE q(10); EXECUTE p(10);
	INSERT INTO mine.t SELECT g, 'u' || g FROM generate_series(1, 50) g;
	EXECUTE q(10); EXECUTE p(10);
	ROLLBACK;
	EXECUTE q(10); EXECUTE p(10);
	DO $$ BEGIN PERFORM hotblocks.drop_dataset('mine'), hotblocks.create_dataset('mine', 'free'); END $$;
	CREATE FOREIGN TABLE mine.t (n bigint NOT NULL, s text) SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	INSERT INTO mine.t SELECT g, 'v' || g FROM generate_series(1, 60) g;
	EXECUTE q(10); EXECUTE p(10))),
	join("\n", ('90s99') x 2, ('91z') x 2, '', '', ('40u50') x 2, ('90s99') x 2, ('50v60') x 2), 'dropped and made again');

# Plans that are kept see tables and columns that are stored later, by way of
# another foreign table, in the same session and in another one.
$session = $node->background_psql('spaces');
$session->query_safe(q(
	SET plan_cache_mode = force_generic_plan;
	CREATE FOREIGN TABLE mine.l (n bigint NOT NULL, a text) SERVER mine OPTIONS (block_column 'n', sort_key 'n');
	CREATE FOREIGN TABLE public.l (b text, a text, n bigint) SERVER mine;
	CREATE FOREIGN TABLE mine.l2 (n bigint NOT NULL, b text OPTIONS (column 'b')) SERVER mine OPTIONS ("table" 'l', block_column 'n', sort_key 'n');
	PREPARE r AS SELECT count(*), max(a), max(b) FROM public.l WHERE n > $1));
is($session->query('EXECUTE r(0)'), '0||', 'nothing is stored');
$session->query_safe(q(INSERT INTO mine.l VALUES (1, 'a')));
is($session->query('EXECUTE r(0)'), '1|a|', 'a plan that is kept sees the table that comes');
rows('spaces', q(INSERT INTO mine.l2 VALUES (2, 'b')));
is($session->query('EXECUTE r(0)'), '2|a|b', 'and the column that comes in another session');
$session->quit;

# What others put beside a dataset is theirs.
my ($out, $err) = ('', '');
rows('spaces', q(
	CREATE TABLE public.precious (i int);
	CREATE TABLE mine.precious (i int);
	CREATE TABLE hotblocks_mine.precious (i int);
	ALTER TABLE hotblocks_mine.chunk SET SCHEMA public));
$node->psql('spaces', q(SELECT hotblocks.drop_dataset('mine')), stdout => \$out, stderr => \$err);
like($err, qr/NOTICE:  schema "hotblocks_mine" of dataset "mine" is not dropped.*NOTICE:  schema "mine" of dataset "mine" is not dropped/s,
	'drop_dataset says which schemas it leaves');
unlike($err, qr/cascades|"public"/, 'and no more');
is(rows('spaces', q(SELECT relnamespace::regnamespace FROM pg_class WHERE relname = 'precious' ORDER BY relnamespace::regnamespace::text;
	SELECT count(*) FROM pg_class WHERE relname IN ('chunk', 'piece_hot', 'head');
	SELECT count(*) FROM hotblocks.dataset)), "hotblocks_mine\nmine\npublic\n0\n0", 'it drops its tables only');
rows('spaces', 'DROP SCHEMA mine CASCADE; DROP SCHEMA hotblocks_mine CASCADE');
rows('spaces', fill('mine', 100) . 'ALTER SCHEMA public OWNER TO postgres;'
	. join('', map { "ALTER TABLE hotblocks_mine.$_ SET SCHEMA public;" } qw(chunk head piece_hot stored_column coverage gap transition feed))
	. q(SELECT hotblocks.drop_dataset('mine')));
is(rows('spaces', q(SELECT count(*) FROM pg_class WHERE relname = 'precious')), '1', 'also where all of its tables were moved');
rows('spaces', 'DROP SCHEMA hotblocks_mine');

# Servers, schemas of storage, and the extension
rows('spaces', fill('mine', 100));
fails_like('spaces', 'DROP SERVER mine', qr/2BP01.*other objects depend on it/, 'DROP SERVER asks for CASCADE');
rows('spaces', 'DROP SERVER mine CASCADE');
is(rows('spaces', 'SELECT name, rows FROM hotblocks.datasets'), 'mine|100', 'and leaves the data');
rows('spaces', q(SELECT hotblocks.drop_dataset('mine'); DROP SCHEMA mine;) . fill('mine', 100));
fails_like('spaces', 'BEGIN; DROP TABLE hotblocks_mine.piece_hot; SELECT * FROM mine.t', qr/a table of dataset "mine" does not exist/,
	'a dataset without one of its tables');
fails_like('spaces', 'DROP SCHEMA hotblocks_mine', qr/2BP01/, 'DROP SCHEMA asks for CASCADE');
rows('spaces', 'DROP SCHEMA hotblocks_mine CASCADE');
fails_like('spaces', 'SELECT * FROM mine.t', qr/dataset "mine" does not exist/, 'and takes the dataset');
is(rows('spaces', q(SELECT hotblocks.create_dataset('mine', 'free', make_tables => false);
	INSERT INTO mine.t VALUES (1, NULL, 'again'); SELECT s FROM mine.t)) =~ s/^\n//r, 'again', 'which can be made again under its tables');

fails_like('spaces', q(UPDATE pg_extension SET extversion = '0.0.1' WHERE extname = 'hotblocks'; SELECT * FROM mine.t),
	qr/library version \S+ does not fit the extension's version 0\.0\.1.*ALTER EXTENSION hotblocks UPDATE/s, 'a library of another version');
fails_like('spaces', 'DROP EXTENSION hotblocks', qr/2BP01/, 'DROP EXTENSION asks for CASCADE');
rows('spaces', 'DROP EXTENSION hotblocks CASCADE');
is(rows('spaces', q(SELECT count(*) FROM hotblocks_mine.chunk; DELETE FROM hotblocks_mine.chunk; SELECT count(*) FROM pg_foreign_table)),
	"1\n0", 'leaves plain tables that work');
rows('spaces', 'DROP SCHEMA mine; DROP SCHEMA hotblocks_mine CASCADE; CREATE EXTENSION hotblocks;' . fill('mine', 10));

# Databases of one cluster, from a template with the extension
rows('template1', 'CREATE EXTENSION hotblocks');
rows('postgres', 'CREATE DATABASE one');
rows('one', fill('mine', 30000));
rows('postgres', 'CREATE DATABASE two TEMPLATE one');
rows('two', q(INSERT INTO mine.t VALUES (30001, NULL, 'two')));
is(rows('one', "SELECT count(*), max(s) FROM mine.t;\n\\c two\nSELECT count(*), max(s) FROM mine.t;\n\\c one\nSELECT count(*), max(s) FROM mine.t"),
	"30000|s9999\n30001|two\n30000|s9999", 'the same dataset in two databases');

$node->stop;
done_testing();
