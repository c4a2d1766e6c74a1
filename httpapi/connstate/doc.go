// Package connstate reports the state of network connections.
package connstate
