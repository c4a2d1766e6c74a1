// Package decisionlist converts the rows of a campaign's decision log to the decisions that the API shows.
package decisionlist
