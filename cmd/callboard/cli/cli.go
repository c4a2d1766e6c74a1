// Package cli contains the shared parts of the commands over the API: the client, the output and the exit codes.
// Each resource has a subpackage with its commands.
//
// The commands send requests with the public Go client and import neither the store nor the settings nor the
// actors.
package cli
