// Package calls places, reads, controls and deletes calls.
package calls
