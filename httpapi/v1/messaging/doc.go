// Package messaging serves the API operations for text messages, their conversations and SMS gateways.
package messaging
