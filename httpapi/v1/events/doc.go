// Package events serves the operations of events, among them their delivery to
// webhooks.
package events
