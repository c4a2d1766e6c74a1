package domain

// API error codes that only single operations return.
const (
	CodeCursorExpired Code = "cursor_expired" // 410: the event is older than the retention
	CodeInvalidCursor Code = "invalid_cursor" // 422: not a cursor of this list
	CodeExportExpired Code = "export_expired" // 410: the file of an export is deleted
)
