// Package alerts keeps the alert rules of operators.
package alerts
