
/*
 * What the script itself put into the catalogs is the extension's; what is
 * there beyond that is the user's, and part of a dump.
 */
UPDATE hotblocks.kind SET shipped = true;
SELECT pg_catalog.pg_extension_config_dump('hotblocks.kind', 'WHERE NOT shipped');
SELECT pg_catalog.pg_extension_config_dump('hotblocks.kind_table',
	'WHERE kind IN (SELECT kind FROM hotblocks.kind WHERE NOT shipped)');
SELECT pg_catalog.pg_extension_config_dump('hotblocks.kind_column',
	'WHERE kind IN (SELECT kind FROM hotblocks.kind WHERE NOT shipped)');
SELECT pg_catalog.pg_extension_config_dump('hotblocks.kind_relation',
	'WHERE kind IN (SELECT kind FROM hotblocks.kind WHERE NOT shipped)');
SELECT pg_catalog.pg_extension_config_dump('hotblocks.dataset', '');
