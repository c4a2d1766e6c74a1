// Package operator serves the operations of operators: workspaces of the installation,
// alert rules, the quarantine of a restored store.
package operator
