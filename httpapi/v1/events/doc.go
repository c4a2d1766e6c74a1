// Package events serves the API operations for events and for webhooks, which deliver events.
package events
