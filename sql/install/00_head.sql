/* hotblocks: the install script, put together from sql/install in order. */
\echo Use "CREATE EXTENSION hotblocks" to load this file. \quit

/*
 * The schema is the extension's own: a dump does not name it, and nobody can
 * have made it before, with objects that would be taken for ours.  The
 * description of the control file is not kept in the database, since a dump
 * would set it again, which whoever restores may only do as a superuser.
 */
CREATE SCHEMA hotblocks;
COMMENT ON EXTENSION hotblocks IS NULL;

