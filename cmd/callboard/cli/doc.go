// Package cli contains the shared parts of the commands that use the HTTP API: the client, the output and the exit
// codes. The commands for each resource are in a subpackage.
//
// The commands send requests with the public Go client. They import neither the store nor the settings nor the
// actors.
package cli
