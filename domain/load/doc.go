// Package load holds what operators see of the load of nodes and workspaces.
package load
