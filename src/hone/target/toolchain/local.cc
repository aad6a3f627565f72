#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

class LocalToolchain final : public Toolchain {
 public:
  explicit LocalToolchain(std::unique_ptr<Toolchain> cpp) : cpp_(std::move(cpp)) {}

  std::string name() const override { return cpp_->name(); }
  std::vector<std::string> other_compilers() const override { return cpp_->other_compilers(); }
  std::string extensions() const override { return cpp_->extensions(); }

  Result<BuildOutcome> build(const kernel::Kernel& kernel, const task::Task& task, const task::Bindings& bindings,
                             const BuildOptions& options) override {
    if (kernel.header.language != kernel::Language::kCpp && (!options.instructions.empty() || options.lines))
      return fail(ErrorCode::kUnavailable, fmt::format("{} is built for this CPU only", kernel::name_of(kernel.header.language)));
    switch (kernel.header.language) {
      case kernel::Language::kCpp: return cpp_->build(kernel, task, bindings, options);
      case kernel::Language::kCuda:
      case kernel::Language::kHip:
      case kernel::Language::kTriton:
      case kernel::Language::kTileLang: {
        HONE_TRY(Toolchain* const emulator, emulator_for(kernel.header.language));
        return emulator->build(kernel, task, bindings, options);
      }
    }
    HONE_CHECK(false, "a language of the table");
    return fail(ErrorCode::kInternal, "no toolchain");
  }

 private:
  Result<Toolchain*> emulator_for(kernel::Language language) {
    const std::scoped_lock lock(mutex_);
    auto& kept = language == kernel::Language::kTriton ? triton_ : language == kernel::Language::kHip ? hip_ : simt_;
    if (!kept) kept = emulator_toolchain(language);
    if (!*kept) return tl::unexpected(kept->error());
    return (*kept)->get();
  }

  std::unique_ptr<Toolchain> cpp_;
  std::mutex mutex_;
  std::optional<Result<std::unique_ptr<Toolchain>>> simt_, hip_, triton_;
};

}  // namespace

Result<std::unique_ptr<Toolchain>> local_toolchain() {
  HONE_TRY(std::unique_ptr<Toolchain> cpp, cpp_toolchain());
  return std::unique_ptr<Toolchain>(std::make_unique<LocalToolchain>(std::move(cpp)));
}

}  // namespace hone::target
