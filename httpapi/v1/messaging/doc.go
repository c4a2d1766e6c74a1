// Package messaging serves the operations of text messages: conversations, SMS
// gateways.
package messaging
