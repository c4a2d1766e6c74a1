// Package calls serves the operations of calls, their recordings included.
package calls
