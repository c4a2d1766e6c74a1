// Package bulk runs jobs of many calls, contacts, numbers or messages.
package bulk
