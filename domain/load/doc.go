// Package load defines the reports on the load of nodes and workspaces that operators see.
package load
