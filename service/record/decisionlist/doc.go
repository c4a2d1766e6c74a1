// Package decisionlist shows the rows of a campaign's decision log as the API does.
package decisionlist
