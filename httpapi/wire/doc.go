// Package wire tells whether the client of a connection has gone.
package wire
