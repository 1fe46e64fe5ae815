# load_file and block_feed: files of every form, lines and documents that
# cannot be taken, what one feed keeps in memory.
use strict;
use warnings;
use HotblocksCluster;
use IO::Compress::Gzip qw(gzip $GzipError);
use PostgreSQL::Test::Utils;
use Test::More;

my $node = HotblocksCluster->new('load');
$node->init;
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hotblocks');
my $dir = PostgreSQL::Test::Utils::tempdir();
chmod 0755, $dir;

sub block
{
	my ($n, $rest) = @_;
	return sprintf '{"block": {"number": "0x%x", "hash": "0x%064x", "parentHash": "0x%064x", "timestamp": "0x%x", "transactions": []%s}, "receipts": []}',
		$n, $n, $n - 1, $n, $rest // '';
}

sub file
{
	my ($name, $bytes) = @_;
	open my $fh, '>:raw', "$dir/$name" or die $!;
	print $fh $bytes;
	close $fh;
	return "$dir/$name";
}

# A zstd frame of blocks that are not compressed.
sub zstd
{
	my ($bytes) = @_;
	my $frame = pack 'VCC', 0xfd2fb528, 0, 0x50;
	my @blocks = unpack '(a100000)*', $bytes;

	foreach my $i (0 .. $#blocks)
	{
		my $header = ($i == $#blocks ? 1 : 0) | (length($blocks[$i]) << 3);
		$frame .= substr(pack('V', $header), 0, 3) . $blocks[$i];
	}
	return $frame;
}

sub gz { my ($bytes) = @_; gzip(\$bytes => \my $out) or die $GzipError; return $out; }

# Loads into a new dataset; the number of blocks, or the error.
sub load
{
	my ($path) = @_;
	$node->safe_psql('postgres', q(SELECT hotblocks.drop_dataset(name) FROM hotblocks.dataset WHERE name = 'd'));
	$node->safe_psql('postgres', q(SELECT hotblocks.create_dataset('d', 'evm')));
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT blocks FROM hotblocks.load_file('d', '$path')");
	return $rc == 0 ? $out : $err;
}

my @lines = map { block($_) } 1 .. 3000;
my $text = join("\n", @lines) . "\n";

is(load(file('plain', $text)), '3000', 'a plain file');
is(load(file('gz', gz($text))), '3000', 'gzip');
is(load(file('members', gz(substr $text, 0, 1000) . gz(substr $text, 1000))), '3000', 'gzip in members');
is(load(file('zst', zstd($text))), '3000', 'zstd');
is(load(file('frames', zstd(substr $text, 0, 1000) . zstd(substr $text, 1000))), '3000', 'zstd in frames');
is(load(file('crlf', join("\r\n", @lines))), '3000', 'CRLF, and no newline at the end');
is(load(file('blank', "\xef\xbb\xbf$lines[0]\n\n  \t\n$lines[1]\n\n")), '2', 'a byte order mark and blank lines');
is(load(file('nothing', '')), '0', 'an empty file');
my $pad = ', "pad": "' . 'x' x 5_000_000 . '"';
is(load(file('long', join("\n", block(1, $pad), block(2), block(3, $pad)))), '3', 'lines longer than what is read at once');
is($node->safe_psql('postgres', q(SELECT member, count FROM hotblocks.unknown_members)), 'block.pad|2', 'unknown members are counted');

like(load(file('cut.gz', substr gz($text), 0, -100)), qr/could not decompress file.*\n.*ends too early/, 'a gzip file that was cut');
like(load(file('bad.gz', substr(gz($text), 0, 200) . 'x' x 2000)), qr/could not decompress file/, 'a damaged gzip file');
like(load(file('cut.zst', substr zstd($text), 0, -100)), qr/could not decompress file.*\n.*ends too early/, 'a zstd file that was cut');
like(load(file('bad.zst', substr(zstd($text), 0, 8) . "\xff" x 2000)), qr/could not decompress file/, 'a damaged zstd file');
my $error = load(file('line', "$lines[0]\n$lines[1]\n\n{\"block\": {}}\n"));
like($error, qr/"block.number" is missing/, 'a line that is refused');
like($error, qr/file ".*line", line 4/, 'with its number');
is($node->safe_psql('postgres', 'SELECT count(*) FROM d.blocks'), '0', 'and the lines before it are not there');

# bytes that are no UTF-8, and escapes that no text can hold
my $tx = '0x' . 'ab' x 32;
my $odd = sub {
	my ($reason) = @_;
	my $doc = block(1);
	$doc =~ s/\[\]\}, "receipts": \[\]/[{"hash": "$tx", "accessList": [{"n": "$reason"}]}]}, "traces": [{"txHash": "$tx", "result": {"type": "CALL", "revertReason": "$reason"}}]/;
	return $doc;
};
is(load(file('odd', $odd->("a\xff\\u0000\xc3\xa9\\ud800z"))), '1', 'a file with bytes that are no UTF-8');
is($node->safe_psql('postgres', 'SET hotblocks.missing_data = ignore; SELECT revert_reason FROM d.traces'),
	"a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbdz", 'has U+FFFD in their place');
is($node->safe_psql('postgres', q(SELECT access_list->0->>'n' FROM d.transactions)),
	"a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\xef\xbf\xbdz", 'in jsonb too');
is($node->safe_psql('postgres', 'SELECT count FROM hotblocks.replaced_characters'), '6', 'and they are counted');

# block_feed: the same by COPY and INSERT
sub feed
{
	my ($sql) = @_;
	$node->safe_psql('postgres', q(SELECT hotblocks.drop_dataset(name) FROM hotblocks.dataset WHERE name = 'd'));
	$node->safe_psql('postgres', q(SELECT hotblocks.create_dataset('d', 'evm')));
	my ($rc, $out, $err) = $node->psql('postgres', "$sql; SELECT blocks, version FROM hotblocks.status('d')");
	return $rc == 0 ? $out : $err;
}

my $csv = q{(FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')};
is(feed("COPY d.block_feed FROM '$dir/plain' $csv"), '3000|1', 'COPY into block_feed is one transition');
is(feed("INSERT INTO d.block_feed VALUES ('$lines[0]'), ('$lines[1]')"), '2|1', 'INSERT into it');
is(feed("INSERT INTO d.block_feed SELECT NULL WHERE false"), '0|0', 'INSERT of nothing');
$error = feed("COPY d.block_feed FROM '$dir/line' $csv");
like($error, qr/"block.number" is missing|block document/, 'a document that is refused by COPY');
is($node->safe_psql('postgres', 'SELECT count(*) FROM d.blocks'), '0', 'leaves nothing');
like(feed("COPY d.block_feed FROM '$dir/odd' $csv"), qr/invalid byte sequence/, "the server's encoding rules stand in COPY");

# memory stays where it is, however many blocks there are
SKIP:
{
	skip 'no /proc', 1 unless -r "/proc/$$/status";
	my $big = "$dir/many";
	open my $fh, '>:raw', $big or die $!;
	foreach my $n (1 .. 60000) { print $fh block($n, ', "extraData": "0x' . 'ee' x 700 . '"'), "\n"; }
	close $fh;
	$node->safe_psql('postgres', q(SELECT hotblocks.drop_dataset('d'); SELECT hotblocks.create_dataset('d', 'evm')));
	my $rss = q{SELECT substring(pg_read_file('/proc/' || pg_backend_pid() || '/status') FROM 'RssAnon:\s*([0-9]+)')};
	my ($before, $blocks, $after) = split /\n/, $node->safe_psql('postgres', qq(
		SET hotblocks.build_memory = '8MB';
		DO 'BEGIN PERFORM hotblocks.load_file(''d'', ''$dir/plain''); END';
		$rss;
		SELECT (hotblocks.load_file('d', '$big')).blocks;
		$rss));
	my $grown = $after - $before;
	is($blocks, '60000', 'a file of 60,000 blocks');
	cmp_ok($grown, '<', 65536, "takes no more than 64 MiB ($grown kB)");
}

$node->stop;
done_testing();
