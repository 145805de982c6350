package cli

import "lockstep/internal/language"

// courseWords are the sentences of course in one language.
type courseWords struct {
	title, predict, yours, noChoice string
	right, wrong, answer, noRun     string
	seat, try, broken               string
	goOn, stopped, finished, marks  string
}

func courseWordsIn(in language.Language) courseWords {
	if in == language.Chinese {
		return courseWords{
			title:    "═══ 第 %d 课，共 %d 课：%s\n\n",
			predict:  "预测",
			yours:    "你的预测（1–%d；回车跳过，q 退出）：",
			noChoice: "没有 %q 这个选项：请输入 1 到 %d。\n",
			right:    "猜对了，是 %d。\n\n",
			wrong:    "你猜的是 %d，答案是 %d：%s\n\n",
			answer:   "答案是 %d：%s\n\n",
			noRun:    "这条命令在这里没有运行成功。它应当打印：",
			seat:     "在调度席上",
			try:      "试一试",
			broken:   "还有什么缺陷",
			goOn:     "回车继续下一课，q 退出：",
			stopped:  "\n下次从这里继续：%s\n",
			finished: "课程结束：预测对了 %d 课，共 %d 课。从头再来：%s --reset\n",
			marks:    "✓ 预测正确   · 学过\n",
		}
	}
	return courseWords{
		title:    "═══ Lesson %d of %d: %s\n\n",
		predict:  "Predict",
		yours:    "Your prediction (1–%d; Enter skips, q stops): ",
		noChoice: "There is no choice %q: type 1 to %d.\n",
		right:    "Right: %d.\n\n",
		wrong:    "You said %d; the answer is %d: %s\n\n",
		answer:   "The answer is %d: %s\n\n",
		noRun:    "The command could not be run here. This is what it prints:",
		seat:     "In the scheduler's seat",
		try:      "Try",
		broken:   "Still broken",
		goOn:     "Enter goes on with the next lesson, q stops: ",
		stopped:  "\nGo on another time with: %s\n",
		finished: "That was the course: %d predictions of %d were right. Once more: %s --reset\n",
		marks:    "✓ predicted   · been through\n",
	}
}
