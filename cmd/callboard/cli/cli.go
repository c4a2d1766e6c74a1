// Package cli holds what the commands over the API of a service share: client
// construction, output, exit codes. Each noun of the command line has a package
// below it.
//
// A command sends its requests through the Go client, as a program of a user
// would. It knows no store, no settings of the service and no actors.
package cli
