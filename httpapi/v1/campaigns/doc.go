// Package campaigns serves the API operations for campaigns: contacts, results, do-not-call lists, decision logs,
// forecasts and bulk jobs.
package campaigns
