// Package account serves the operations of a workspace's own settings: credentials,
// usage, exports, data requests, the audit log.
package account
