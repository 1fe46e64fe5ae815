/*
 * client.c
 *		Times queries on PostgreSQL, as a client sees them.
 *
 *	client SCHEMA ROUNDS DIR [NAME ...] <queries
 *
 * connects as the environment says, takes SCHEMA as search_path and, for each
 * query of standard input (a line "-- name", then SQL; none without a name)
 * that is asked for, prepares it, runs it twice to warm up and ROUNDS times
 * measured, prints "name milliseconds" of the best round, and writes the rows
 * (values separated by tabs, NULL as \N) to DIR/name.SCHEMA.
 *
 * A round is PQexecPrepared over the Unix socket: it has the execution and
 * all rows received as text, and not the planning, which a prepared statement
 * without parameters does once.  With BENCH_SIMPLE set it is PQexec instead:
 * parsing and planning too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libpq-fe.h>

#define WARM_UP		2

static PGconn *conn;

static void
fail(const char *what)
{
	fprintf(stderr, "client: %s: %s", what, PQerrorMessage(conn));
	exit(1);
}

static void
command(const char *sql)
{
	PGresult   *res = PQexec(conn, sql);

	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		fail(sql);
	PQclear(res);
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void
write_rows(const char *dir, const char *name, const char *schema, PGresult *res)
{
	char		path[4096];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s.%s", dir, name, schema);
	file = fopen(path, "w");
	if (file == NULL)
	{
		perror(path);
		exit(1);
	}
	for (int i = 0; i < PQntuples(res); i++)
		for (int j = 0; j < PQnfields(res); j++)
			fprintf(file, "%s%c", PQgetisnull(res, i, j) ? "\\N" : PQgetvalue(res, i, j),
					j == PQnfields(res) - 1 ? '\n' : '\t');
	if (fclose(file) != 0)
	{
		perror(path);
		exit(1);
	}
}

static void
measure(const char *name, const char *sql, int rounds, const char *dir, const char *schema)
{
	int			simple = getenv("BENCH_SIMPLE") != NULL;
	double		best = 0;
	PGresult   *res;

	if (!simple)
	{
		res = PQprepare(conn, "", sql, 0, NULL);
		if (PQresultStatus(res) != PGRES_COMMAND_OK)
			fail(name);
		PQclear(res);
	}
	for (int i = 0; i < WARM_UP + rounds; i++)
	{
		double		start = now_ms();
		double		took;

		if (simple)
			res = PQexec(conn, sql);
		else
			res = PQexecPrepared(conn, "", 0, NULL, NULL, NULL, 0);
		took = now_ms() - start;
		if (PQresultStatus(res) != PGRES_TUPLES_OK)
			fail(name);
		if (i == WARM_UP || (i > WARM_UP && took < best))
			best = took;
		if (i == 0)
			write_rows(dir, name, schema, res);
		PQclear(res);
	}
	printf("%s %.3f\n", name, best);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static char sql[65536];
	char		name[64] = "";
	char		line[4096];
	int			wanted = 0;

	if (argc < 4)
	{
		fprintf(stderr, "usage: client SCHEMA ROUNDS DIR [NAME ...] <queries\n");
		return 2;
	}
	conn = PQconnectdb("");
	if (PQstatus(conn) != CONNECTION_OK)
		fail("could not connect");
	snprintf(line, sizeof(line), "SET search_path = %s", argv[1]);
	command(line);
	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		if (sscanf(line, "-- %63[a-z0-9_]\n", name) == 1 && strchr(line + 3, ' ') == NULL)
		{
			sql[0] = '\0';
			wanted = argc == 4;
			for (int i = 4; i < argc; i++)
				wanted |= strcmp(argv[i], name) == 0;
		}
		else if (wanted && strncmp(line, "--", 2) != 0)
		{
			strncat(sql, line, sizeof(sql) - strlen(sql) - 1);
			if (strchr(line, ';') != NULL)
			{
				measure(name, sql, atoi(argv[2]), argv[3], argv[1]);
				wanted = 0;
			}
		}
	}
	PQfinish(conn);
	return 0;
}
