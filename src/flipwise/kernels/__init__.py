"""The only compiled code: plain functions on arrays, interpreted when small, compiled when hot."""
