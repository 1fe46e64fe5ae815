# A psql whose backend's private memory (RssAnon of /proc/PID/status) is looked
# at all the while a statement runs.  For test/t and bench/table_memory.
#
#   my $session = HotblocksMemory->new(@psql_arguments);
#   $session->run('SELECT ...');              # the output's lines
#   my $kb = $session->peak('INSERT ...');    # highest RssAnon while it ran
#   my $kb = $session->now;
package HotblocksMemory;

use strict;
use warnings;

use IPC::Open2;

sub new
{
	my ($class, @arguments) = @_;
	my $self = bless {}, $class;

	$self->{psql} = open2($self->{out}, $self->{in}, 'psql', '-X', '-q', '-A', '-t',
		'-v', 'ON_ERROR_STOP=1', @arguments);
	$self->{in}->autoflush(1);
	($self->{backend}) = $self->run('SELECT pg_backend_pid()');
	return $self;
}

# Statements that make what wide_rows needs: two times 512 kB of random bytes.
sub wide_rows_setup
{
	return q(
		SELECT setseed(0.5);
		CREATE TEMP TABLE wide_half AS
			SELECT k, (SELECT decode(string_agg(md5(random()::text || k || j), ''), 'hex')
				FROM generate_series(1, 64) j) AS v
			FROM generate_series(0, 1023) k);
}

# A query of $n rows (i, v) of which each v has 2 KiB that no codec packs and
# that no other row has.
sub wide_rows
{
	my ($n) = @_;

	return qq(
		SELECT i, a.v || b.v FROM generate_series(1, $n) i
			JOIN wide_half a ON a.k = i % 512
			JOIN wide_half b ON b.k = 512 + (i / 512 + i) % 512);
}

sub now
{
	my ($self) = @_;

	open my $status, '<', "/proc/$self->{backend}/status" or die "no /proc of the backend: $!";
	my ($kb) = map { /^RssAnon:\s+(\d+)/ ? $1 : () } <$status>;
	close $status;
	return $kb // die 'no RssAnon in /proc';
}

sub send_statement
{
	my ($self, $sql) = @_;

	print { $self->{in} } "$sql;\n\\echo -- done\n";
	return;
}

sub result
{
	my ($self) = @_;
	my @lines;
	my $out = $self->{out};

	while (my $line = <$out>)
	{
		chomp $line;
		return @lines if $line eq '-- done';
		push @lines, $line;
	}
	die 'the session ended: a statement failed';
}

sub run
{
	my ($self, $sql) = @_;

	$self->send_statement($sql);
	return $self->result;
}

sub peak
{
	my ($self, $sql) = @_;
	my $peak = $self->now;
	my $waiting = '';

	$self->send_statement($sql);
	vec($waiting, fileno($self->{out}), 1) = 1;
	until (select(my $ready = $waiting, undef, undef, 0.005))
	{
		my $now = $self->now;

		$peak = $now if $now > $peak;
	}
	$self->result;
	return $peak;
}

sub DESTROY
{
	my ($self) = @_;
	local ($?, $!);

	close $self->{in};
	close $self->{out};
	waitpid $self->{psql}, 0;
	return;
}

1;
