// Package account serves the API operations for the settings of a workspace: credentials, users, usage, exports,
// data requests and the audit log.
package account
