// Package calls serves the API operations for calls and their recordings.
package calls
