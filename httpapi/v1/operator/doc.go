// Package operator serves the API operations for operators: workspaces of the installation, nodes, alert rules and
// the quarantine of a restored store.
package operator
