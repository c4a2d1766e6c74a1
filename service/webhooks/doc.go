// Package webhooks keeps webhook endpoints and sends events to them again.
package webhooks
