/* hotblocks: the install script, put together from sql/install in order. */
\echo Use "CREATE EXTENSION hotblocks" to load this file. \quit

