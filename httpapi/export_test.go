package httpapi

import "github.com/callboard/callboard/httpapi/router"

// MergePatch is mergePatch.
func MergePatch(target, patch any) any { return router.MergePatch(target, patch) }
