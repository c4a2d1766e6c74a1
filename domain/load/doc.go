// Package load defines the load of nodes and workspaces that operators see.
package load
